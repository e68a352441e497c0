/* SPDX-License-Identifier: MIT */
/* What each algorithm sends, from docs/collectives.md: messages and bytes of every rank. */

function chunkBytes(count, element, n, chunk) {
  const c = ((chunk % n) + n) % n;
  return (Math.floor(count / n) + (c < count % n ? 1 : 0)) * element;
}

function treeChildren(relative, n) {
  let children = 0;
  for (let bit = 1; bit < n && !(relative & bit); bit *= 2) if (relative + bit < n) children++;
  return children;
}

function doublingMessages(rank, n) {
  let power = 1, rounds = 0;
  while (power * 2 <= n) power *= 2, rounds++;
  const extra = n - power;
  if (rank >= 2 * extra) return rounds;
  return rank % 2 ? rounds + 1 : 1;
}

/* By operation and algorithm: [in words, (r) => messages, (r) => bytes]. `a`: n, S, count, element, root. */
const FORMULAS = {
  'all_reduce ring': (a) => [`ring: 2(n−1) messages, 2(n−1)/n · S = ${bytesText((2 * (a.n - 1) / a.n) * a.S)} a rank`,
    () => 2 * (a.n - 1), (r) => 2 * a.S - a.chunk(r) - a.chunk(r + 1)],
  'reduce_scatter ring': (a) => ['first half of the ring: n−1 messages, S − one chunk', () => a.n - 1, (r) => a.S - a.chunk(r)],
  'all_gather ring': (a) => ['second half of the ring: n−1 messages, S − one chunk', () => a.n - 1,
    (r) => a.S - a.chunk(r + 1)],
  'all_reduce naive': (a) => [`naive: rank 0 sends (n−1) · S = ${bytesText((a.n - 1) * a.S)}, every other rank S`,
    (r) => (r ? 1 : a.n - 1), (r) => (r ? a.S : (a.n - 1) * a.S)],
  'all_reduce tree': (a) => ['tree: S to the parent, S to each child', (r) => treeChildren(r, a.n) + (r ? 1 : 0),
    (r) => (treeChildren(r, a.n) + (r ? 1 : 0)) * a.S],
  'all_reduce recursive-doubling': (a) => ['recursive doubling: S to one partner a round, log n rounds', (r) => doublingMessages(r, a.n),
    (r) => doublingMessages(r, a.n) * a.S],
  'all_reduce one-shot': (a) => ['one-shot: every rank reads S of each other one', () => a.n - 1, () => (a.n - 1) * a.S],
  'all_reduce two-shot': (a) => ['two-shot: every rank reads its slice of each other one, then their slices', () => 2 * (a.n - 1),
    (r) => a.S + (a.n - 2) * a.chunk(r)],
  'reduce one-shot': (a) => ['the root reads S of each other rank', (r) => (r === a.root ? 0 : 1), (r) => (r === a.root ? 0 : a.S)],
  'broadcast naive': (a) => ['naive: the root sends (n−1) · S', (r) => (r === a.root ? a.n - 1 : 0),
    (r) => (r === a.root ? (a.n - 1) * a.S : 0)],
  'broadcast tree': (a) => ['tree: S to each child', (r) => treeChildren(a.relative(r), a.n),
    (r) => treeChildren(a.relative(r), a.n) * a.S],
  'reduce naive': (a) => ['every rank but the root sends S', (r) => (r === a.root ? 0 : 1), (r) => (r === a.root ? 0 : a.S)],
  'reduce tree': (a) => ['every rank but the root sends S', (r) => (r === a.root ? 0 : 1), (r) => (r === a.root ? 0 : a.S)],
  'scatter ': (a) => ['the root sends every other rank its block', (r) => (r === a.root ? a.n - 1 : 0),
    (r) => (r === a.root ? (a.n - 1) * a.S : 0)],
  'gather ': (a) => ['every rank but the root sends its block', (r) => (r === a.root ? 0 : 1), (r) => (r === a.root ? 0 : a.S)],
  'all_gather ': (a) => ['n−1 blocks to the right', () => a.n - 1, () => (a.n - 1) * a.S],
  'reduce_scatter ': (a) => ['n−1 blocks to the right', () => a.n - 1, () => (a.n - 1) * a.S],
  'all_to_all ': (a) => ['one block to each other rank', () => a.n - 1, () => (a.n - 1) * a.S],
  'barrier ': (a) => ['log n empty messages', () => Math.ceil(Math.log2(a.n)), () => 0],
};

/* coll_tree_reduce: reduce, tree; ring_iall_reduce: all_reduce, ring; coll_all_reduce: what was chosen. */
function nameOf(slice) {
  const m = /^(?:coll_(?:(naive|tree|recursive_doubling|one_shot|two_shot)_)?|(ring)_i?)(\w+)$/.exec(slice.name);
  return m ? `${m[3]} ${(m[1] || m[2] || slice.algorithm).replace('_', '-')}` : '';
}

/* For a part: { text, messages[rank], bytes[rank] }; null where no formula is known. */
function expectation(run, part) {
  const s = part.first, formula = s && part.kind === 'collective' ? FORMULAS[nameOf(s)] : null;
  if (!formula || s.count < 0 || !ELEMENT[s.dtype]) return null;
  const n = run.ranks, element = ELEMENT[s.dtype], root = Math.max(0, s.root);
  const members = new Set(part.slices.map((x) => x.rank));
  if (members.size !== n || s.comm) return null; /* of a group: whose ranks are not the world's */
  const a = { n, S: s.count * element, root, relative: (r) => (r - root + n) % n, chunk: (c) => chunkBytes(s.count, element, n, c) };
  const [text, messages, bytes] = formula(a), ranks = Array.from({ length: n }, (_, r) => r);
  if (n === 1) return { text, messages: [0], bytes: [0] };
  return { text, messages: ranks.map(messages), bytes: ranks.map(bytes) };
}
