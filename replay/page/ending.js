/* SPDX-License-Identifier: MIT */
/* How a run ended that did not end well, a deadlock as its cycle; and the legend. */

function stuckPlace(run) {
  const first = run.end.ranks.find((r) => r.inCycle);
  return first && first.file ? { file: first.file, line: first.line } : null;
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
  const bar = (kind) => (g, w, h) => {
    const [colour, , hatched] = LOOKS[kind];
    g.globalAlpha = hatched ? 0.75 : ALPHA[kind];
    g.fillStyle = hatched ? hatch(g, COLOURS[colour]) : COLOURS[colour];
    g.fillRect(2, h * 0.2, w - 4, h * 0.6);
    g.globalAlpha = 1;
  };
  const items = [
    legendItem(cell(1n, 'own'), 'what the rank had at the beginning'),
    legendItem(cell(1n, 'received'), 'something has come for it and is not combined yet'),
    legendItem(cell(3n, 'combined'), 'combined: the parts of these ranks are in it'),
    legendItem(cell(15n, 'kept'), 'complete'),
    legendItem(arrow(true), 'a message that is combined with what is there'),
    legendItem(arrow(false), 'a message that takes the place of what is there'),
    legendItem(bar('wait'), 'by the clock: a rank that waits, and moves bytes meanwhile'),
    legendItem(bar('call'), 'in a call of Pairwise'),
    legendItem((g, w, h) => drawChoice(g, w / 2, h / 2, h * 0.35), 'a choice: something else could have come first'),
    legendItem(bar('compute'), 'combining'),
    legendItem(bar('phase'), 'a phase of the program; under it what goes on in the background'),
  ];
  box.replaceChildren(...items.map(([e]) => e));
  requestAnimationFrame(() => items.forEach(([, draw]) => draw()));
}
