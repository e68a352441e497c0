/* SPDX-License-Identifier: MIT */
/*
 * The space-time diagram: a lane for each rank, time to the right, an arrow for each message. What lies before the cursor
 * is drawn in full, what is under way as far as it has come, what is to come as a shadow.
 */

/* ---- Where things are ---- */

function layoutOf(view, width, height) {
  const size = fontSize(), left = 4.6 * size, top = 1.9 * size, bottom = 0.5 * size, n = view.run.ranks;
  const lane = Math.max(2, (height - top - bottom) / n);
  return {
    size, left, top, lane, width, height, right: width - 1.4 * size,
    y: (rank) => top + (rank + 0.5) * lane,
    x: (t) => left + ((t - view.from) / (view.to - view.from)) * (width - 1.4 * size - left),
    t: (x) => view.from + ((x - left) / (width - 1.4 * size - left)) * (view.to - view.from),
  };
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
  if (s.options > 1) drawChoice(g, x2, at.y(s.rank), Math.min(at.size * 0.5, at.lane * 0.3));
}

/* Where another message could have been taken: a diamond. */
function drawChoice(g, x, y, size) {
  g.fillStyle = COLOURS.vermillion;
  g.beginPath();
  g.moveTo(x - size, y);
  g.lineTo(x, y - size);
  g.lineTo(x + size, y);
  g.lineTo(x, y + size);
  g.fill();
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

/* What a rank did last, as much of it as there is room for. */
function fittingText(g, last, width) {
  const place = `${last.call} at ${last.file}:${last.line}`;
  const texts = [last.file ? place : last.call, last.call, last.function].map((part) => `${last.state} in ${part}`);
  return texts.find((text) => g.measureText(text).width < width) || last.state;
}

/* What every rank was in when it ended. */
function drawLastCalls(view, at, g) {
  if (!view.run.end || view.part.kind !== 'all' || view.time < view.run.end.time) return;
  g.font = font(Math.min(at.size * 0.92, at.lane * 0.6), '600');
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  view.run.end.ranks.forEach((last, rank) => {
    if (!last.call || at.lane < at.size * 0.9) return;
    const text = fittingText(g, last, at.right - at.left), width = g.measureText(text).width + at.size, x = at.right - at.size * 0.6;
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

function sliceText(s) {
  const place = s.file ? `\n${s.file}:${s.line}` : '';
  const polls = s.polls > 0 ? `, polled ${s.polls} times and found nothing` : '';
  const choice = s.options < 2 ? '' : s.chosen < 0 ? ', was told that nothing has come' : `, took ${s.chosen} of ${s.options} that had come`;
  return `rank ${s.rank}: ${s.name}, ${timeText(s.end - s.start)}${s.unfinished ? ', never returned' : ''}${polls}${choice}${place}`;
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
