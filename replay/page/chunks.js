/* SPDX-License-Identifier: MIT */
/* The buffers under the diagram: a row a rank, a cell a chunk, as full as there are ranks' parts in it. */

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
  const size = fontSize(), rows = view.run.ranks, most = (view.stage.clientHeight / player.views.length) * 0.42;
  return view.buffers ? Math.min(most, rows * size * 1.9 + size * 1.9) : 0;
}

function placeBuffers(view) {
  view.bufferCanvas.style.height = `${bufferHeight(view)}px`;
  view.bufferCanvas.style.display = view.buffers ? 'block' : 'none';
}

function drawBuffers(view) {
  if (!view.buffers || view.bufferCanvas.clientHeight < 3 * fontSize()) return;
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
