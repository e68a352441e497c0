/* SPDX-License-Identifier: MIT */
/* Messages in the diagram: arrows, as far as they have come by the time of the cursor. */

function begins(view, m) {
  return view.by === 'step' ? m.round : m.leaves;
}

function arrives(view, m) {
  return view.by === 'step' ? m.arrival : m.arrives >= 0 ? m.arrives : Infinity;
}

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

function distanceTo(view, at, m, x, y) {
  const e = arrowEnds(view, at, m), dx = e.x1 - e.x0, dy = e.y1 - e.y0;
  const k = Math.max(0, Math.min(1, ((x - e.x0) * dx + (y - e.y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(e.x0 + k * dx - x, e.y0 + k * dy - y);
}
