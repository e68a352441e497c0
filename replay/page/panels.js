/* SPDX-License-Identifier: MIT */
/* What stands beside the diagram: matrix, counters, what happens now, and the code that does it. */

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
  const most = Math.max(1, largest(trafficOfAll(view)[view.matrixOf])), every = Math.max(1, Math.ceil((size * 1.1) / h));
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
  if (view.time <= 0) return `Nothing has been sent yet. ${plural(view.part.messages.length, 'message')} in <b>${plural(n, "step")}</b>.`;
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
