/* SPDX-License-Identifier: MIT */
/* The traces as objects; the rows are those of replay/data.c. And what of a run can be looked at: its parts. */

const KINDS = ['call', 'collective', 'wait', 'compute', 'phase', 'background'];

function readSlice(row, texts) {
  const [kind, rank, track, start, length, flags, parent, order, name, file, line, comm, collective, peer, bytes, polls,
    count, dtype, op, algorithm, root, chosen = -1, options = 0] = row;
  const text = (i) => (i >= 0 ? texts[i] : '');
  return {
    kind: KINDS[kind], rank, track, start, end: start + length, unfinished: (flags & 1) !== 0, failed: (flags & 2) !== 0,
    parent, order, name: text(name), file: text(file), line, comm, collective, peer, bytes, polls, count,
    dtype: text(dtype), op: text(op), algorithm: text(algorithm), root, chosen, options,
  };
}

function readMessage(row, index) {
  const [from, to, tag, bytes, comm, collective, sent, received, flags, sentIn, receivedIn, sentOrder, receivedOrder,
    chunk, offset, chunkTo, offsetTo, leaves = -1, arrives = -1] = row;
  return {
    index, from, to, tag, bytes, comm, collective, sent, received, combined: (flags & 1) !== 0,
    ofCollective: (flags & 2) !== 0, sentIn, receivedIn, sentOrder, receivedOrder,
    chunk: chunk >= 0 ? chunk : chunkTo, offset: offset >= 0 ? offset : offsetTo,
    offsetTo: offsetTo >= 0 ? offsetTo : offset, leaves: leaves >= 0 ? leaves : sent,
    arrives: arrives >= 0 ? arrives : received,
  };
}

/* How many phases are around a slice. */
function levelOf(run, slice) {
  const around = run.slices[slice.parent];
  return around ? around.level + (around.kind === 'phase' ? 1 : 0) : 0;
}

/* A blocking receive, whose message could have been another rank's. */
function isFromAny(slice) {
  return Boolean(slice) && slice.peer < 0 && /^(p2p|MPI)_(sendrecv|recv)/i.test(slice.name);
}

function readRun(raw) {
  const run = { ...raw };
  run.slices = raw.slices.map((row) => readSlice(row, raw.texts));
  for (const s of run.slices) s.level = levelOf(run, s);
  run.messages = raw.messages.map(readMessage);
  for (const m of run.messages) m.fromAny = isFromAny(run.slices[m.receivedIn]);
  run.endTime = run.slices.reduce((t, s) => Math.max(t, s.end), raw.end ? raw.end.time : 0);
  return run;
}

/* ---- Parts of a run: all of it, a collective, a phase. A part is what is shown at a time. ---- */

function startPart(parts, key, kind, slice) {
  let part = parts.get(key);
  if (!part) {
    part = { key, kind, name: slice.name, first: slice, start: Infinity, end: 0, slices: [], bytes: 0, messages: [] };
    parts.set(key, part);
  }
  part.start = Math.min(part.start, slice.start);
  part.end = Math.max(part.end, slice.end);
  part.slices.push(slice);
  return part;
}

function collectiveKey(comm, number) {
  return `c${comm}.${number}`;
}

/* The outermost slice of a collective gives it its name; a call within it belongs to it. */
function addSlice(run, parts, phases, slice) {
  if (slice.collective > 0 && slice.kind !== 'wait') {
    const known = parts.get(collectiveKey(slice.comm, slice.collective));
    const begins = slice.kind === 'collective' || slice.kind === 'background';
    if (known || begins) startPart(parts, collectiveKey(slice.comm, slice.collective), 'collective', slice);
  } else if (slice.kind === 'phase') {
    const nth = phases.get(`${slice.rank} ${slice.name}`) || 0;
    phases.set(`${slice.rank} ${slice.name}`, nth + 1);
    startPart(parts, `p${slice.name} ${nth}`, 'phase', slice).nth = nth;
  }
}

const MOST_PHASES = 100;

function isIn(part, message) {
  return part.slices.some((s) => s.rank === message.from && message.sent >= s.start && message.sent <= s.end);
}

function giveMessages(run, parts) {
  const phases = [...parts.values()].filter((p) => p.kind === 'phase');
  for (const m of run.messages) {
    const collective = m.ofCollective ? parts.get(collectiveKey(m.comm, m.collective)) : null;
    if (collective) collective.messages.push(m);
  }
  if (phases.length <= MOST_PHASES) phases.forEach((p) => fillPhase(run, p));
}

/* Of many phases each is filled when it is looked at. */
function fillPhase(run, part) {
  if (part.kind === 'phase' && !part.messages.length) part.messages = run.messages.filter((m) => isIn(part, m));
}

/* All parts, the whole run first, then in the order in which they began. */
function findParts(run) {
  const parts = new Map(), phases = new Map();
  for (const slice of run.slices) addSlice(run, parts, phases, slice);
  giveMessages(run, parts);
  const list = [...parts.values()].filter((p) => p.messages.length || p.kind === 'phase');
  for (const p of list) p.bytes = p.messages.reduce((sum, m) => sum + m.bytes, 0);
  list.sort((a, b) => a.start - b.start);
  const whole = {
    key: 'all', kind: 'all', name: 'the whole run', start: 0, end: run.endTime, slices: run.slices,
    messages: run.messages, bytes: 0,
  };
  return [whole, ...list];
}

/* Of several phases with messages the one in the middle of those with the name of the first; of many, whose messages are
 * not looked for in advance, the first in which something is sent. */
function usualPhase(run, parts) {
  const phases = parts.filter((p) => p.kind === 'phase' && p.first.level === 0);
  if (phases.length > MOST_PHASES) return phases.find((p) => run.messages.some((m) => isIn(p, m)));
  const moving = phases.filter((p) => p.messages.length);
  const named = moving.filter((p) => p.name === moving[0].name);
  return named[named.length >> 1];
}

/* What is worth looking at first: a phase of the program's own; of the collectives on the longest buffer the last one,
 * which has warmed up; else all. */
function usualPart(run, parts) {
  if (run.end) return parts[0];
  const phase = usualPhase(run, parts);
  if (phase) return phase;
  const size = (p) => (p.first ? p.first.count * (ELEMENT[p.first.dtype] || 1) : 0);
  let best = parts[0];
  for (const p of parts) if (p.kind === 'collective' && p.bytes > 0 && size(p) >= size(best)) best = p;
  return best;
}

/* ---- Words ---- */

const ELEMENT = { f32: 4, f64: 8, i32: 4, i64: 8, u8: 1, f16: 2, bf16: 2 };

function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, unit++;
  return `${bytes >= 100 || Number.isInteger(bytes) ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

function shortBytes(bytes) {
  return bytesText(bytes).replace(/ ([KMG])iB/, '$1').replace(' B', '');
}

function timeText(ns) {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(3)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(3)} ms`;
  return `${(ns / 1e3).toFixed(ns < 1e4 ? 2 : 1)} µs`;
}

function listText(numbers) {
  const list = numbers.slice(0, 8).join(', ');
  return numbers.length > 8 ? `${list} and ${numbers.length - 8} more` : list.replace(/, (\d+)$/, ' and $1');
}

/* As Math.max, for lists of any length: a call takes some 100,000 arguments at most. */
function largest(list) {
  return list.reduce((most, value) => (value > most ? value : most), -Infinity);
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/* "ring_all_reduce #3: 262144 f32, sum" */
function partText(part) {
  if (part.kind === 'all') return part.name;
  if (part.kind === 'phase') return `${part.name}${part.nth ? ` (${part.nth + 1})` : ''}`;
  const s = part.first, words = [];
  if (s.algorithm) words.push(s.algorithm);
  if (s.count > 0) words.push(`${s.count.toLocaleString('en')}${s.dtype ? ` ${s.dtype}` : ''}`);
  if (s.op) words.push(s.op);
  if (s.root >= 0) words.push(`root ${s.root}`);
  return `${s.name} #${s.collective}${words.length ? `: ${words.join(', ')}` : ''}`;
}
