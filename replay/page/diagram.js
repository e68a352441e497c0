/* SPDX-License-Identifier: MIT */
/*
 * The space-time diagram: a lane for each rank, time to the right, an arrow for each message. What lies before the cursor
 * is drawn in full, what is under way as far as it has come, what is to come as a shadow.
 */

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const COLOURS = {};

function readColours() {
  for (const name of ['paper', 'panel', 'ink', 'soft', 'line', 'faint', 'own', 'own-ink', 'blue', 'sky', 'green', 'orange',
    'vermillion', 'purple', 'yellow', 'on-strong', 'mark']) COLOURS[name] = css(name);
}

/* A canvas in sharp pixels: sets its size, returns what to draw with. */
function openCanvas(canvas) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

function fontSize() {
  return parseFloat(getComputedStyle(document.body).fontSize);
}

function font(size, weight = '') {
  return `${weight} ${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
}

/* ---- Where things are ---- */

function layoutOf(view, width, height) {
  const size = fontSize(), left = 4.6 * size, top = 1.9 * size, bottom = 0.5 * size, n = view.run.ranks;
  const lane = (height - top - bottom) / n;
  return {
    size, left, top, lane, width, height, right: width - 1.4 * size,
    y: (rank) => top + (rank + 0.5) * lane,
    x: (t) => left + ((t - view.from) / (view.to - view.from)) * (width - 1.4 * size - left),
    t: (x) => view.from + ((x - left) / (width - 1.4 * size - left)) * (view.to - view.from),
  };
}

function begins(view, m) {
  return view.by === 'step' ? m.round : m.leaves;
}

function arrives(view, m) {
  return view.by === 'step' ? m.arrival : m.arrives >= 0 ? m.arrives : Infinity;
}

/* ---- Lanes, grid, slices ---- */

function niceStep(span, most) {
  const rough = span / most, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough);
}

function drawGrid(view, at, g) {
  const span = view.to - view.from, steps = view.by === 'step';
  const each = Math.max(steps ? 1 : 0, niceStep(span, (at.right - at.left) / (at.size * (!steps ? 6 : view.to < 1000 ? 2.6 : 4.2))));
  const origin = steps ? 0 : view.part.start;
  g.font = font(at.size * 0.82);
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  for (let t = Math.ceil((view.from - origin) / each) * each; t + origin <= view.to + 1e-9; t += each) {
    const x = at.x(t + origin);
    g.strokeStyle = COLOURS.faint;
    g.beginPath();
    g.moveTo(x, at.top);
    g.lineTo(x, at.height);
    g.stroke();
    g.fillStyle = COLOURS.soft;
    g.fillText(steps ? `${Math.round(t)}` : timeText(Math.round(t)), x, at.top * 0.62);
  }
  g.textAlign = 'left';
  g.fillText(steps ? 'step' : 'time', at.size * 0.5, at.top * 0.62);
}

function drawLanes(view, at, g) {
  const every = Math.max(1, Math.ceil((at.size * 1.15) / at.lane));
  g.textBaseline = 'middle';
  g.textAlign = 'left';
  for (let rank = 0; rank < view.run.ranks; rank++) {
    const y = at.y(rank);
    g.strokeStyle = COLOURS.line;
    g.beginPath();
    g.moveTo(at.left - at.size * 0.4, y);
    g.lineTo(at.width, y);
    g.stroke();
    if (rank % every) continue;
    g.font = font(Math.min(at.size * 1.02, at.lane * 1.05), '600');
    g.fillStyle = COLOURS.ink;
    g.fillText(at.lane * every > at.size * 0.9 ? `rank ${rank}` : `${rank}`, at.size * 0.5, y);
  }
}

let hatching = {};

function hatch(g, colour) {
  if (hatching[colour]) return hatching[colour];
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const t = tile.getContext('2d');
  t.strokeStyle = colour;
  t.lineWidth = 1.6;
  for (const d of [-8, 0, 8]) {
    t.beginPath();
    t.moveTo(d, 8);
    t.lineTo(d + 8, 0);
    t.stroke();
  }
  return hatching[colour] = g.createPattern(tile, 'repeat');
}

/* How a slice looks: [colour, height in lanes, hatched]. */
const LOOKS = {
  phase: ['purple', 0.94, false], collective: ['faint', 0.72, false], background: ['sky', 0.07, false],
  call: ['sky', 0.44, false], wait: ['soft', 0.44, true], compute: ['orange', 0.44, false],
};

const ALPHA = { phase: 0.25, collective: 1, background: 1, call: 0.55, wait: 0.4, compute: 1 };

function belongs(view, s) {
  return view.part.kind === 'all' || view.part.kind === 'phase' || (s.collective === view.part.first.collective && s.comm === view.part.first.comm);
}

/* A call that did not return before the end, or with an error; and the waiting in it. */
function isBad(run, s) {
  if (!run.end) return false;
  const call = s.kind === 'wait' ? run.slices[s.parent] : s;
  return s.unfinished || (call !== undefined && (call.unfinished || call.failed));
}

function drawSlice(view, at, g, s) {
  const [colour, share, hatched] = LOOKS[s.kind], bad = isBad(view.run, s);
  const x = Math.max(at.x(s.start), at.left), x2 = Math.min(at.x(s.end), at.width), height = at.lane * (s.kind === 'phase' ? Math.max(0.5, share - 0.15 * s.level) : share);
  if (x2 < at.left || x > at.width) return;
  const y = s.kind === 'background' ? at.y(s.rank) + at.lane * 0.25 : at.y(s.rank) - height / 2, width = Math.max(x2 - x, 1.2);
  if (s.kind === 'wait') {
    g.fillStyle = COLOURS.paper;
    g.fillRect(x, y, width, height);
  }
  g.globalAlpha = bad && s.kind === 'wait' ? 0.75 : ALPHA[s.kind] * (belongs(view, s) ? 1 : 0.35);
  g.fillStyle = hatched ? hatch(g, bad ? COLOURS.vermillion : COLOURS[colour]) : COLOURS[colour];
  g.fillRect(x, y, width, height);
  g.globalAlpha = 1;
  if (bad && s.kind !== 'wait') {
    g.strokeStyle = COLOURS.vermillion;
    g.lineWidth = 2.5;
    g.strokeRect(x, y, width, height);
    g.lineWidth = 1;
  }
  if (s.kind === 'phase') {
    g.fillStyle = COLOURS.purple;
    g.fillRect(x, y, 1, height);
  }
  if (s.kind === 'phase' && width > at.size * 3) drawName(at, g, s, x, y, width);
}

function drawName(at, g, s, x, y, width) {
  g.save();
  g.beginPath();
  g.rect(x, y, width, at.lane);
  g.clip();
  g.fillStyle = COLOURS.ink;
  g.font = font(Math.min(at.size * 0.78, at.lane * 0.3));
  g.textBaseline = 'top';
  g.fillText(s.name, x + 3, y + 1);
  g.restore();
}

/* Slices that are too short to be seen are drawn one for each pixel. */
function drawSlices(view, at, g) {
  const order = ['phase', 'collective', 'background', 'call', 'wait', 'compute'];
  const pixel = (view.to - view.from) / Math.max(1, at.right - at.left);
  for (const kind of order) {
    const seen = new Map();
    for (const s of view.slices[kind] || []) {
      if (s.end < view.from || s.start > view.to) continue;
      const place = Math.floor(s.start / pixel);
      if (s.end - s.start < pixel && seen.get(s.rank) === place) continue;
      seen.set(s.rank, place);
      drawSlice(view, at, g, s);
    }
  }
}

/* ---- Messages ---- */

function arrowColour(m, m_known) {
  if (!m_known) return COLOURS.ink;
  return m.combined ? COLOURS.blue : COLOURS.orange;
}

function drawHead(g, x, y, angle, size) {
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x - size * Math.cos(angle - 0.42), y - size * Math.sin(angle - 0.42));
  g.lineTo(x - size * Math.cos(angle + 0.42), y - size * Math.sin(angle + 0.42));
  g.closePath();
  g.fill();
}

/* Which end is where, in pixels; a message to oneself is an arc above the lane. */
function arrowEnds(view, at, m) {
  const t0 = begins(view, m), t1 = arrives(view, m), never = !Number.isFinite(t1);
  const x0 = at.x(t0), x1 = never ? x0 + at.size * 1.8 : at.x(t1), y0 = at.y(m.from), y1 = at.y(m.to);
  return { x0, y0, x1, y1: never ? y0 + (y1 - y0) * 0.45 : y1, t0, t1, never };
}

function drawArrow(view, at, g, m, share, strong) {
  const e = arrowEnds(view, at, m), self = m.from === m.to;
  const x = e.x0 + (e.x1 - e.x0) * share, y = e.y0 + (e.y1 - e.y0) * share;
  g.strokeStyle = g.fillStyle = e.never ? COLOURS.vermillion : arrowColour(m, view.knowsParts);
  g.lineWidth = strong ? Math.max(2.6, at.size * 0.18) : Math.max(1.3, at.size * 0.09);
  g.setLineDash(e.never || (view.knowsParts && !m.combined) ? [at.size * 0.45, at.size * 0.28] : []);
  g.beginPath();
  g.moveTo(e.x0, e.y0);
  if (self) g.quadraticCurveTo((e.x0 + x) / 2, e.y0 - at.lane * 0.6, x, y);
  else g.lineTo(x, y);
  g.stroke();
  g.setLineDash([]);
  if (share > 0.05) drawHead(g, x, y, self ? 1 : Math.atan2(e.y1 - e.y0, e.x1 - e.x0), Math.min(at.size * 0.75, at.lane * 0.5));
  if (e.never) drawCross(g, x, y, at.size * 0.4);
}

function drawCross(g, x, y, r) {
  g.lineWidth = 2.5;
  g.beginPath();
  g.moveTo(x - r, y - r);
  g.lineTo(x + r, y + r);
  g.moveTo(x + r, y - r);
  g.lineTo(x - r, y + r);
  g.stroke();
}

function labelOf(view, m) {
  if (m.chunk >= 0) return `${m.chunk}`;
  return m.bytes ? shortBytes(m.bytes) : '';
}

function drawLabel(view, at, g, m, share) {
  const e = arrowEnds(view, at, m), text = labelOf(view, m);
  if (!text || e.x1 - e.x0 < at.size * 2.2 || at.lane < at.size * 1.6) return;
  const along = Math.min(share, 1) * 0.36, x = e.x0 + (e.x1 - e.x0) * along, y = e.y0 + (e.y1 - e.y0) * along;
  g.font = font(at.size * 0.86, '700');
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  const half = g.measureText(text).width / 2 + at.size * 0.3;
  g.fillStyle = COLOURS.paper;
  g.strokeStyle = arrowColour(m, view.knowsParts);
  g.lineWidth = 1.5;
  g.beginPath();
  g.roundRect(x - half, y - at.size * 0.62, 2 * half, at.size * 1.24, at.size * 0.4);
  g.fill();
  g.stroke();
  g.fillStyle = COLOURS.ink;
  g.fillText(text, x, y + 1);
}

/* How far a message has come: 0 not sent, 1 there. */
function progressOf(view, m) {
  const t0 = begins(view, m), t1 = arrives(view, m);
  if (view.time <= t0) return view.time === t0 && view.by === 'clock' ? 0.02 : 0;
  if (!Number.isFinite(t1)) return 1;
  return view.time >= t1 ? 1 : Math.max(0, (view.time - t0) / (t1 - t0));
}

function isFresh(view, m) {
  const t1 = arrives(view, m);
  return view.fresh.has(m) || (view.time > begins(view, m) && view.time < t1 && Number.isFinite(t1));
}

function visibleMessages(view) {
  return view.part.messages.filter((m) => begins(view, m) <= view.to && Math.min(arrives(view, m), view.run.endTime) >= view.from);
}

/* Too many for arrows: lines, those between the same ranks at the same pixel only once, in two strokes. */
function drawCrowd(view, at, g, shown) {
  const paths = { past: new Path2D(), future: new Path2D() }, last = new Map();
  for (const m of shown) {
    const e = arrowEnds(view, at, m), key = m.from * 4096 + m.to, place = Math.round(e.x0) + Math.round(e.x1) / 65536;
    if (last.get(key) === place) continue;
    last.set(key, place);
    const path = e.t1 <= view.time ? paths.past : paths.future;
    path.moveTo(e.x0, e.y0);
    path.lineTo(e.x1, e.y1);
  }
  g.strokeStyle = view.knowsParts ? COLOURS.blue : COLOURS.ink;
  g.lineWidth = 1;
  g.globalAlpha = 0.45;
  g.stroke(paths.past);
  g.globalAlpha = 0.12;
  g.stroke(paths.future);
  g.globalAlpha = 1;
}

function drawMessages(view, at, g) {
  const shown = visibleMessages(view);
  if (shown.length > 1500) return drawCrowd(view, at, g, shown);
  g.globalAlpha = 0.13;
  for (const m of shown) if (progressOf(view, m) < 1) drawArrow(view, at, g, m, 1, false);
  g.globalAlpha = 0.55;
  for (const m of shown) if (progressOf(view, m) === 1 && !isFresh(view, m)) drawArrow(view, at, g, m, 1, false);
  g.globalAlpha = 1;
  const fresh = shown.filter((m) => progressOf(view, m) > 0 && isFresh(view, m));
  for (const m of fresh) drawArrow(view, at, g, m, progressOf(view, m), true);
  if (shown.length < 400) for (const m of shown) if (progressOf(view, m) > 0) drawLabel(view, at, g, m, 1);
  return undefined;
}

function drawDots(view, at, g) {
  const r = Math.min(at.size * 0.24, at.lane * 0.16);
  for (const item of view.timeline.items) {
    const t = item[view.by];
    if (t < view.from || t > view.to || t > view.time) continue;
    if (item.type === 'combine') continue;
    g.fillStyle = COLOURS.ink;
    g.beginPath();
    g.arc(at.x(t), at.y(item.rank), r, 0, 7);
    g.fill();
  }
}

function drawCursor(view, at, g) {
  const x = at.x(view.time);
  if (x < at.left - 1 || x > at.width) return;
  g.strokeStyle = g.fillStyle = COLOURS.vermillion;
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(x, at.top);
  g.lineTo(x, at.height);
  g.stroke();
  g.beginPath();
  g.moveTo(x - at.size * 0.4, at.top - at.size * 0.5);
  g.lineTo(x + at.size * 0.4, at.top - at.size * 0.5);
  g.lineTo(x, at.top + 1);
  g.fill();
}

/* The message that differs, in a ring that cannot be overlooked. */
function drawDifference(view, at, g) {
  const m = view.differing;
  if (!m || view.time < begins(view, m)) return;
  const e = arrowEnds(view, at, m);
  g.strokeStyle = COLOURS.vermillion;
  g.lineWidth = at.size * 0.22;
  g.beginPath();
  g.ellipse((e.x0 + e.x1) / 2, (e.y0 + e.y1) / 2, Math.hypot(e.x1 - e.x0, e.y1 - e.y0) / 2 + at.size, at.size * 1.3,
    Math.atan2(e.y1 - e.y0, e.x1 - e.x0), 0, 7);
  g.stroke();
}

function drawStuck(view, at, g) {
  if (!view.run.end || view.part.kind !== 'all' || view.by !== 'step' || view.time < view.timeline.range.step[1]) return;
  view.run.end.ranks.forEach((last, rank) => {
    if (last.state !== 'stuck' && last.state !== 'blocked') return;
    const x = at.x(view.timeline.range.step[1]);
    g.fillStyle = hatch(g, COLOURS.vermillion);
    g.fillRect(x, at.y(rank) - at.lane * 0.22, at.width - x, at.lane * 0.44);
  });
}

/* What every rank was in when it ended. */
function drawLastCalls(view, at, g) {
  if (!view.run.end || view.part.kind !== 'all' || view.time < view.run.end.time) return;
  g.font = font(Math.min(at.size * 0.92, at.lane * 0.6), '600');
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  view.run.end.ranks.forEach((last, rank) => {
    if (!last.call || at.lane < at.size * 0.9) return;
    const text = `${last.state} in ${last.call}`, width = g.measureText(text).width + at.size, x = at.right - at.size * 0.6;
    g.fillStyle = COLOURS.paper;
    g.strokeStyle = last.inCycle ? COLOURS.vermillion : COLOURS.line;
    g.lineWidth = 2;
    g.beginPath();
    g.roundRect(x - width, at.y(rank) - at.size * 0.75, width, at.size * 1.5, at.size * 0.3);
    g.fill();
    g.stroke();
    g.fillStyle = COLOURS.ink;
    g.fillText(text, x - at.size / 2, at.y(rank) + 1);
  });
}

function drawDiagram(view) {
  const { g, width, height } = openCanvas(view.diagram);
  const at = view.layout = layoutOf(view, width, height);
  drawGrid(view, at, g);
  g.lineWidth = 1;
  drawLanes(view, at, g);
  g.save();
  g.beginPath();
  g.rect(at.left - at.size, at.top - at.size, width, height);
  g.clip();
  if (view.by === 'clock') drawSlices(view, at, g);
  drawStuck(view, at, g);
  drawMessages(view, at, g);
  if (view.timeline.items.length < 4000) drawDots(view, at, g);
  drawDifference(view, at, g);
  if (view.by === 'clock') drawLastCalls(view, at, g);
  drawCursor(view, at, g);
  g.restore();
}

/* ---- What is under the pointer ---- */

function distanceTo(view, at, m, x, y) {
  const e = arrowEnds(view, at, m), dx = e.x1 - e.x0, dy = e.y1 - e.y0;
  const k = Math.max(0, Math.min(1, ((x - e.x0) * dx + (y - e.y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(e.x0 + k * dx - x, e.y0 + k * dy - y);
}

function sliceText(s) {
  const place = s.file ? `\n${s.file}:${s.line}` : '';
  const looks = s.looks > 0 ? `, looked ${s.looks} times and found nothing` : '';
  return `rank ${s.rank}: ${s.name}, ${timeText(s.end - s.start)}${s.unfinished ? ', never returned' : ''}${looks}${place}`;
}

function whatIsAt(view, x, y) {
  const at = view.layout;
  if (!at || x < at.left) return '';
  let best = null, nearest = 7;
  const shown = visibleMessages(view);
  if (shown.length < 4000)
    for (const m of shown) {
      const d = distanceTo(view, at, m, x, y);
      if (d < nearest) nearest = d, best = m;
    }
  if (best) return messageText(view.run, best);
  if (view.by === 'step') return '';
  const t = at.t(x), rank = Math.floor((y - at.top) / at.lane);
  const inside = view.part.slices.filter((s) => s.rank === rank && s.start <= t && s.end >= t);
  return inside.length ? sliceText(inside.reduce((a, b) => (b.start >= a.start ? b : a))) : '';
}
