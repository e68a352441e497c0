/* SPDX-License-Identifier: MIT */
/* Everything beside the diagram: buffers, matrix, counters, code, what happens now, and how it ended. */

/* ---- Buffers ---- */

function cellLook(buffers, cell) {
  if (cell.action === 'empty') return { fill: null, ink: COLOURS.soft };
  if (cell.action === 'received') return { fill: COLOURS.yellow, ink: '#16191d', hatch: true };
  if (isComplete(buffers, cell)) return { fill: COLOURS.green, ink: COLOURS['on-strong'] };
  if (cell.action === 'own') return { fill: COLOURS.own, ink: COLOURS['own-ink'] };
  return { fill: COLOURS.own, ink: COLOURS['own-ink'], share: ranksIn(cell.set).length / ranksIn(buffers.full).length };
}

/* "0+2+3", "14 of 16"; a cell that is only copied says whose it is. */
function cellText(buffers, cell, width, g) {
  const ranks = ranksIn(cell.set);
  if (!ranks.length) return '';
  if (!buffers.operation.combines) return `${ranks[0]}`;
  const all = ranks.join('+');
  if (g.measureText(all).width < width) return all;
  const n = ranksIn(buffers.full).length, part = `${ranks.length} of ${n}`;
  return g.measureText(part).width < width ? part : g.measureText('00').width < width ? `${ranks.length}` : '';
}

/* As much of a cell as there are parts in it. */
function drawShare(g, share, x, y, width, height) {
  g.save();
  g.clip();
  g.fillStyle = COLOURS.sky;
  g.fillRect(x, y, width * share, height);
  g.restore();
}

function drawCell(buffers, g, cell, x, y, width, height, size, fresh) {
  const look = cellLook(buffers, cell);
  g.beginPath();
  g.roundRect(x + 1, y + 1, width - 2, height - 2, Math.min(5, height / 5, width / 5));
  if (look.fill) {
    g.fillStyle = look.fill;
    g.fill();
  }
  if (look.share) drawShare(g, look.share, x + 1, y + 1, width - 2, height - 2);
  if (look.hatch) {
    g.fillStyle = hatch(g, 'rgba(0,0,0,0.35)');
    g.fill();
  }
  g.strokeStyle = fresh ? COLOURS.vermillion : COLOURS.line;
  g.lineWidth = fresh ? Math.max(2.5, size * 0.17) : 1;
  g.setLineDash(look.fill ? [] : [4, 3]);
  g.stroke();
  g.setLineDash([]);
  g.font = font(Math.min(size * 0.9, height * 0.62), '600');
  const text = height > size * 0.6 ? cellText(buffers, cell, width - 8, g) : '';
  g.fillStyle = look.ink;
  g.fillText(text, x + width / 2, y + height / 2 + 1);
}

function bufferHeight(view) {
  const size = fontSize(), rows = view.run.ranks, most = view.stage.clientHeight * 0.42;
  return view.buffers ? Math.min(most, rows * size * 1.9 + size * 1.9) : 0;
}

function drawBuffers(view) {
  view.bufferCanvas.style.height = `${bufferHeight(view)}px`;
  view.bufferCanvas.style.display = view.buffers ? 'block' : 'none';
  if (!view.buffers) return;
  const { g, width, height } = openCanvas(view.bufferCanvas), size = fontSize();
  const left = 4.6 * size, top = 1.5 * size, row = (height - top - size * 0.3) / view.run.ranks;
  const cells = view.buffers.cells, total = cells[cells.length - 1].to, right = width - 1.4 * size;
  const now = buffersAt(view.buffers, view.by, view.time), last = view.lastStop();
  g.textBaseline = 'middle';
  g.textAlign = 'left';
  g.font = font(size * 0.82);
  g.fillStyle = COLOURS.soft;
  g.fillText('buffer', size * 0.5, top * 0.55);
  g.textAlign = 'center';
  const x = (bytes) => left + (bytes / total) * (right - left);
  cells.forEach((c, i) => {
    const text = cells.length === view.run.ranks ? `chunk ${i}` : `${shortBytes(c.from)}…`, room = x(c.to) - x(c.from);
    if (cells.length === 1) g.fillText(`all ${bytesText(total)}`, (left + right) / 2, top * 0.55);
    else if (g.measureText(text).width < room) g.fillText(text, (x(c.from) + x(c.to)) / 2, top * 0.55);
    else if (size < room) g.fillText(`${i}`, (x(c.from) + x(c.to)) / 2, top * 0.55);
  });
  now.forEach((line, rank) => {
    const y = top + rank * row;
    g.font = font(Math.min(size * 1.02, row * 0.9), '600');
    g.textAlign = 'left';
    g.fillStyle = COLOURS.ink;
    g.fillText(`rank ${rank}`, size * 0.5, y + row / 2);
    g.textAlign = 'center';
    line.forEach((cell, c) => {
      const fresh = cell.when >= 0 && cell.when > last && cell.when <= view.time;
      drawCell(view.buffers, g, cell, x(cells[c].from), y, x(cells[c].to) - x(cells[c].from), row, size, fresh);
    });
  });
}

/* ---- Matrix ---- */

function trafficAt(view) {
  const n = view.run.ranks, bytes = new Float64Array(n * n), messages = new Float64Array(n * n);
  for (const m of view.part.messages) {
    if (begins(view, m) >= view.time && view.time < view.timeline.range[view.by][1]) continue;
    bytes[m.from * n + m.to] += m.bytes;
    messages[m.from * n + m.to]++;
  }
  return { bytes, messages };
}

function drawMatrixCell(g, value, most, x, y, w, h, text) {
  const share = value / most;
  g.fillStyle = COLOURS.faint;
  g.fillRect(x + 0.5, y + 0.5, w - 1, h - 1);
  if (value) {
    g.globalAlpha = 0.22 + 0.78 * share;
    g.fillStyle = COLOURS.blue;
    g.fillRect(x + 0.5, y + 0.5, w - 1, h - 1);
    g.globalAlpha = 1;
  }
  if (!value || g.measureText(text).width > w - 3) return;
  g.fillStyle = share > 0.45 ? COLOURS.paper : COLOURS.ink;
  g.fillText(text, x + w / 2, y + h / 2 + 1);
}

/* Rows send, columns receive; as wide as there is room, no higher than needed. */
function drawMatrix(view) {
  const canvas = document.getElementById('matrix'), n = view.run.ranks, size = fontSize();
  const w = Math.min((canvas.clientWidth - 2.2 * size) / n, size * 5), h = Math.min(w, size * 1.7);
  canvas.style.height = `${h * n + 1.6 * size}px`;
  const { g } = openCanvas(canvas), left = 2 * size, top = 1.4 * size, values = trafficAt(view)[view.matrixOf];
  const most = Math.max(1, ...trafficOfAll(view)[view.matrixOf]), every = Math.max(1, Math.ceil((size * 1.1) / h));
  g.textBaseline = 'middle';
  for (let r = 0; r < n; r++) {
    g.font = font(Math.min(size * 0.85, h * 0.9), '600');
    g.fillStyle = COLOURS.soft;
    g.textAlign = 'right';
    if (r % every === 0) g.fillText(`${r}`, left - size * 0.4, top + (r + 0.5) * h);
    g.textAlign = 'center';
    if (r % every === 0) g.fillText(`${r}`, left + (r + 0.5) * w, top * 0.55);
    g.font = font(Math.min(size * 0.8, h * 0.62));
    for (let q = 0; q < n; q++) {
      const value = values[r * n + q], text = view.matrixOf === 'bytes' ? shortBytes(value) : `${value}`;
      drawMatrixCell(g, value, most, left + q * w, top + r * h, w, h, text);
    }
  }
}

function trafficOfAll(view) {
  if (view.all) return view.all;
  const time = view.time;
  view.time = Infinity;
  view.all = trafficAt(view);
  view.time = time;
  return view.all;
}

/* ---- Counters ---- */

function sums(view) {
  const { bytes, messages } = trafficAt(view), n = view.run.ranks;
  const sum = (list, r) => list.subarray(r * n, r * n + n).reduce((a, b) => a + b, 0);
  return Array.from({ length: n }, (_, r) => ({ messages: sum(messages, r), bytes: sum(bytes, r) }));
}

function counterCell(value, expected, text) {
  if (expected === undefined) return `<td>${text(value)}</td>`;
  const name = value === expected ? 'met' : value > expected ? 'over' : '';
  const sign = value === expected ? ' ✓' : value > expected ? ' !' : '';
  return `<td class="${name}">${text(value)}${sign}</td><td>${text(expected)}</td>`;
}

function drawCounters(view) {
  const e = view.expectation, rows = sums(view);
  document.getElementById('formula').textContent = e ? e.text : '';
  const head = e ? '<tr><th>rank</th><th>messages</th><th>of</th><th>bytes</th><th>of</th></tr>'
    : '<tr><th>rank</th><th>messages</th><th>bytes</th></tr>';
  document.getElementById('counters').innerHTML = head + rows.map((row, r) => `<tr><td>${r}</td>${
    counterCell(row.messages, e ? e.messages[r] : undefined, (v) => `${v}`)}${
    counterCell(row.bytes, e ? e.bytes[r] : undefined, bytesText)}</tr>`).join('');
}

/* ---- Now ---- */

const escapeText = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

function messageText(run, m) {
  const what = m.chunk >= 0 ? `chunk ${m.chunk}, ` : '';
  const end = m.received >= 0 ? m.combined ? ' and is combined there' : '' : ' and is never received';
  const tag = m.ofCollective ? '' : `, tag ${m.tag}`;
  return `${what}${bytesText(m.bytes)}${tag}: from rank ${m.from} to rank ${m.to}${end}`;
}

/* Where in a sorted list the items behind this time begin. */
function firstAfter(list, by, time) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][by] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* What lies between the stop before and this one. */
function itemsNow(view) {
  const list = view.timeline.sorted[view.by];
  return list.slice(firstAfter(list, view.by, view.lastStop()), firstAfter(list, view.by, view.time));
}

function stepSentence(view, items) {
  const arrived = items.filter((i) => i.type === 'receive').map((i) => i.m).sort((a, b) => a.from - b.from), n = view.timeline.range.step[1];
  if (view.time <= 0) return `Nothing has been sent yet. ${plural(view.part.messages.length, 'message')} in <b>${n} steps</b>.`;
  const combined = arrived.filter((m) => m.combined).length, part = (m) => (m.chunk >= 0 ? ` chunk ${m.chunk}` : ` ${bytesText(m.bytes)}`);
  const each = arrived.slice(0, 4).map((m) => `${m.from} → ${m.to}:${part(m)}`).join(', ');
  const more = arrived.length > 4 ? ` and ${arrived.length - 4} more` : '';
  const then = !view.knowsParts || !arrived.length ? '' : combined === arrived.length ? ', <b>combined</b> with what is there' :
    combined ? `, ${combined} of them combined` : ', and <b>takes its place</b>';
  return `Step <b>${Math.ceil(view.time)}</b> of ${n}. ${arrived.length ? `${each}${more}${then}.` : 'Messages are under way.'}`;
}

function clockSentence(view, items) {
  const after = `<b>${timeText(view.time - view.part.start)}</b>: `;
  if (!items.length) return `${after}${view.time >= view.part.end ? 'the end.' : 'it begins.'}`;
  const item = items[items.length - 1], more = items.length > 1 ? ` (and ${plural(items.length - 1, 'other thing')})` : '';
  if (item.type === 'combine') return `${after}rank ${item.rank} has combined ${bytesText(item.slice.bytes)}${more}.`;
  const verb = item.type === 'send' ? `rank ${item.rank} sends` : `rank ${item.rank} has received`;
  return `${after}${verb} ${escapeText(messageText(view.run, item.m))}${more}.`;
}

function drawSentence(view) {
  const items = itemsNow(view);
  document.getElementById('sentence').innerHTML = view.by === 'step' ? stepSentence(view, items) : clockSentence(view, items);
}

/* ---- Code ---- */

/* The line of a slice, or of the nearest around it that has one. */
function placeOf(run, slice) {
  while (slice && !slice.file) slice = run.slices[slice.parent];
  return slice ? { file: slice.file, line: slice.line } : null;
}

/* The line that most of what happens now stands on. */
function placeNow(view) {
  const items = itemsNow(view), count = new Map();
  const chosen = items.length ? items : view.timeline.items.slice(0, 1);
  for (const item of chosen.slice(0, 64)) {
    const inside = item.slice || view.run.slices[item.type === 'send' ? item.m.sentIn : item.m.receivedIn];
    const place = placeOf(view.run, inside);
    if (!place) continue;
    const key = `${place.file}:${place.line}`;
    count.set(key, [(count.get(key) || [0])[0] + 1, place]);
  }
  return [...count.values()].reduce((a, b) => (b[0] > a[0] ? b : a), [0, null])[1];
}

function drawCode(view, sources) {
  const stuck = view.run.end && view.time >= view.timeline.range[view.by][1] ? stuckPlace(view.run) : null;
  const place = stuck || placeNow(view), lines = place ? sources[place.file] : null, box = document.getElementById('code');
  document.getElementById('code-name').textContent = place ? `${place.file}:${place.line}` : 'code';
  document.getElementById('code-box').hidden = !place;
  if (!place) return;
  const shown = Object.entries(lines || {}).filter(([n]) => Math.abs(n - place.line) <= 3);
  const indent = Math.min(...shown.filter(([, text]) => text.trim()).map(([, text]) => text.search(/\S/)));
  box.innerHTML = shown.length ? shown.map(([n, text]) => `<div class="${Number(n) === place.line ? 'at' : ''}"><i>${n}</i>${
    escapeText(text.slice(indent))}</div>`).join('') : '<div>the file was not found when this page was made</div>';
}

/* ---- The end ---- */

function stuckPlace(run) {
  const first = run.end.ranks.findIndex((r) => r.inCycle);
  const m = first >= 0 ? / at (.*):(\d+)$/.exec(run.end.ranks[first].call) : null;
  return m ? { file: m[1], line: Number(m[2]) } : null;
}

function ringPlace(i, n, r) {
  const angle = (2 * Math.PI * i) / n - Math.PI / 2;
  return [200 + r * Math.cos(angle), 128 + r * 0.82 * Math.sin(angle)];
}

/* Who waits for whom: the ranks of the cycle in a ring, an arrow from who waits to whom it waits for. */
function cycleSvg(run) {
  const cycle = run.end.cycle.slice(0, 12), n = cycle.length, out = [];
  const strong = 'var(--vermillion)';
  cycle.forEach((rank, i) => {
    const last = run.end.ranks[rank];
    for (const other of last.waitsFor) {
      const j = cycle.indexOf(other);
      if (j < 0) continue;
      const [x0, y0] = ringPlace(i, n, 95), [x1, y1] = ringPlace(j, n, 95), d = Math.hypot(x1 - x0, y1 - y0) || 1;
      const ux = (x1 - x0) / d, uy = (y1 - y0) / d, bend = n === 2 ? 34 : 0;
      const cx = (x0 + x1) / 2 - uy * bend, cy = (y0 + y1) / 2 + ux * bend;
      const bx = x1 - cx, by = y1 - cy, b = Math.hypot(bx, by) || 1;
      out.push(`<path d="M${x0 + ux * 26 - uy * bend * 0.4} ${y0 + uy * 26 + ux * bend * 0.4} Q${cx} ${cy} ${
        x1 - (bx / b) * 32} ${y1 - (by / b) * 32}" fill="none" stroke="${strong}" stroke-width="4" marker-end="url(#head)"/>`);
    }
  });
  cycle.forEach((rank, i) => {
    const [x, y] = ringPlace(i, n, 95);
    out.push(`<circle cx="${x}" cy="${y}" r="25" fill="var(--paper)" stroke="${strong}" stroke-width="3.5"/>
<text x="${x}" y="${y + 7}" text-anchor="middle" font-size="21" font-weight="700" fill="var(--ink)">${rank}</text>`);
  });
  return `<svg viewBox="30 0 340 256" role="img" aria-label="who waits for whom"><defs><marker id="head" viewBox="0 0 10 10"
refX="7" refY="5" markerWidth="4.5" markerHeight="4.5" orient="auto"><path d="M0 0L10 5L0 10z" fill="${strong}"/></marker></defs>
${out.join('')}</svg>`;
}

function showEnding(view) {
  const { run } = view, box = document.getElementById('ending');
  box.hidden = !run.end;
  if (!run.end) return;
  document.getElementById('ending-name').textContent = run.outcome === 'deadlock' && run.end.isCycle
    ? 'deadlock: each waits for the next' : run.outcome;
  document.getElementById('cycle').innerHTML = run.end.cycle.length ? cycleSvg(run) : '';
  document.getElementById('diagnosis').hidden = !run.end.text;
  document.getElementById('ending-text').textContent = run.end.text;
}

/* ---- Legend ---- */

function legendItem(draw, text) {
  const box = document.createElement('div'), canvas = document.createElement('canvas');
  box.style.cssText = 'display:flex;align-items:center;gap:0.7em';
  canvas.style.cssText = 'width:5em;height:1.9em';
  box.append(canvas, text);
  return [box, () => {
    const { g, width, height } = openCanvas(canvas);
    g.textAlign = 'center';
    g.textBaseline = 'middle';
    draw(g, width, height);
  }];
}

function showLegend() {
  const box = document.getElementById('legend'), full = 15n;
  const cell = (set, action) => (g, w, h) => drawCell({ operation: { combines: true }, full }, g, { set, action }, 0, 0, w, h, fontSize(), false);
  const arrow = (combined) => (g, w, h) => {
    g.strokeStyle = g.fillStyle = combined ? COLOURS.blue : COLOURS.orange;
    g.lineWidth = 3;
    g.setLineDash(combined ? [] : [8, 5]);
    g.beginPath();
    g.moveTo(4, h / 2);
    g.lineTo(w - 10, h / 2);
    g.stroke();
    drawHead(g, w - 2, h / 2, 0, 13);
  };
  const items = [
    legendItem(cell(1n, 'own'), 'what the rank had at the beginning'),
    legendItem(cell(1n, 'received'), 'something has come for it and is not combined yet'),
    legendItem(cell(3n, 'combined'), 'combined: the parts of these ranks are in it'),
    legendItem(cell(15n, 'kept'), 'complete'),
    legendItem(arrow(true), 'a message that is combined with what is there'),
    legendItem(arrow(false), 'a message that takes the place of what is there'),
  ];
  box.replaceChildren(...items.map(([e]) => e));
  requestAnimationFrame(() => items.forEach(([, draw]) => draw()));
}
