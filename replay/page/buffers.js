/* SPDX-License-Identifier: MIT */
/*
 * What is in each rank's buffer: which ranks' parts are in it, cell by cell. A cell is what always travels together. A
 * message carries what its sender has in those cells when it sends; it takes their place at the receiver, or waits there
 * until it is combined. All of it is worked out once, as changes in causal order.
 */

const MOST_CELLS = 128, MOST_BUFFER_RANKS = 64;

/* What the operation starts from: every rank has all cells (its own part of them), only the root has, or each its block. */
function operationOf(part) {
  const name = part.kind === 'all' ? '' : part.name;
  if (/barrier/.test(name)) return { start: 'none' };
  if (/reduce/.test(name)) return { start: 'own', combines: true };
  if (/broadcast|scatter/.test(name)) return { start: 'root', combines: false };
  if (/gather|all_to_all/.test(name)) return { start: 'block', combines: false, swaps: /all_to_all/.test(name) };
  return { start: 'own', combines: true };
}

function membersOf(part) {
  return new Set(part.slices.map((s) => s.rank));
}

function totalBytes(run, part) {
  const s = part.first;
  if (!s || s.count < 0 || !ELEMENT[s.dtype]) return 0;
  const blocks = /^coll_(scatter|gather|all_gather|reduce_scatter|all_to_all)/.test(s.name) ? membersOf(part).size : 1;
  return s.count * ELEMENT[s.dtype] * blocks;
}

function boundaries(run, part) {
  const total = totalBytes(run, part), edges = new Set([0]);
  for (const m of part.messages)
    if (m.offset >= 0 && m.bytes) edges.add(m.offset).add(m.offset + m.bytes).add(m.offsetTo).add(m.offsetTo + m.bytes);
  if (total) edges.add(total);
  return [...edges].sort((a, b) => a - b);
}

function cellsOf(buffers, offset, bytes) {
  const whole = offset < 0;
  const cells = [];
  for (let c = 0; c < buffers.cells.length; c++)
    if (whole || (buffers.cells[c].from >= offset && buffers.cells[c].to <= offset + bytes)) cells.push(c);
  return cells;
}

function startOf(buffers, rank, cell, root, n) {
  const start = buffers.operation.start, one = 1n << BigInt(rank);
  if (start === 'own') return one;
  if (start === 'root') return rank === root ? one : 0n;
  return Math.floor((cell * n) / buffers.cells.length) === rank ? one : 0n;
}

/* What `message` brings to its receiver's cell, by what was in its sender's cells. */
function arrivingSet(buffers, message, k) {
  if (buffers.operation.swaps) return 1n << BigInt(message.from);
  return message.content[Math.min(k, message.content.length - 1)] || 0n;
}

function simulate(run, timeline, buffers) {
  const now = buffers.start.map((row) => [...row]), pending = now.map(() => []);
  const change = (item, rank, cell, set, action) => buffers.changes.push({ item, rank, cell, set, action });
  const settle = (item, rank) => {
    for (const [cell, set, received] of pending[rank])
      change(item && item.type === 'combine' ? item : received, rank, cell, now[rank][cell] |= set, 'combined');
    pending[rank] = [];
  };
  for (const item of timeline.items) {
    const { m, rank } = item;
    settle(item, rank);
    if (item.type === 'send') m.content = cellsOf(buffers, m.offset, m.bytes).map((c) => now[rank][c]);
    if (item.type !== 'receive' || !m.content) continue;
    cellsOf(buffers, m.offsetTo, m.bytes).forEach((cell, k) => {
      const set = arrivingSet(buffers, m, k);
      if (m.combined) pending[rank].push([cell, set, item]);
      change(item, rank, cell, m.combined ? now[rank][cell] : now[rank][cell] = set, m.combined ? 'received' : 'kept');
    });
  }
  for (let rank = 0; rank < run.ranks; rank++) settle(null, rank);
}

/* NULL where there is nothing to show: no messages of parts, or too many. */
function makeBuffers(run, part, timeline) {
  const operation = operationOf(part);
  const known = part.messages.some((m) => m.offset >= 0) || (part.kind === 'collective' && totalBytes(run, part) > 0);
  const collectives = new Set(part.messages.map((m) => (m.ofCollective ? `${m.comm}.${m.collective}` : '')));
  if (collectives.size > 1) return null; /* each has a buffer of its own */
  if (!known || operation.start === 'none' || run.ranks > MOST_BUFFER_RANKS || part.kind === 'all') return null;
  const edges = boundaries(run, part), n = run.ranks;
  if (edges.length < 2 || edges.length > MOST_CELLS) return null;
  const cells = edges.slice(1).map((to, i) => ({ from: edges[i], to }));
  const members = membersOf(part), full = [...members].reduce((set, r) => set | (1n << BigInt(r)), 0n);
  const buffers = { operation, cells, changes: [], full };
  const named = /root (\d+)/.exec(part.name); /* of a phase: "my_broadcast, root 2" */
  const root = named ? Number(named[1]) : part.first ? Math.max(0, part.first.root) : 0;
  buffers.start = Array.from({ length: n }, (_, rank) => cells.map((_c, c) => (members.has(rank) ? startOf(buffers, rank, c, root, n) : 0n)));
  simulate(run, timeline, buffers);
  for (const by of ['step', 'clock'])
    buffers[by] = [...buffers.changes].sort((a, b) => a.item[by] - b.item[by] || a.item.index - b.item.index);
  return buffers;
}

/* The cells as they are at a time: { set, action, when }. */
function buffersAt(buffers, by, time) {
  const rows = buffers.start.map((row) => row.map((set) => ({ set, action: set ? 'own' : 'empty', when: -1 })));
  for (const c of buffers[by]) {
    if (c.item[by] > time) break;
    rows[c.rank][c.cell] = { set: c.set, action: c.action, when: c.item[by] };
  }
  return rows;
}

function ranksIn(set) {
  const ranks = [];
  for (let r = 0; set; r++, set >>= 1n) if (set & 1n) ranks.push(r);
  return ranks;
}

/* Is everything in it that can be? */
function isComplete(buffers, cell) {
  return buffers.operation.combines ? cell.set === buffers.full : cell.action === 'kept' || cell.action === 'own';
}
