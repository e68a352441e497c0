/* SPDX-License-Identifier: MIT */
/*
 * Two runs: the first message that differs. Each rank's messages are compared in the order in which it sent them: to whom,
 * how long, which part of the buffer where both say so. Of all differences the one in the earliest step counts.
 */

function sentBy(part, rank) {
  return part.messages.filter((m) => m.from === rank).sort((a, b) => a.sentOrder - b.sentOrder);
}

function differs(a, b) {
  if (!a || !b) return true;
  return a.to !== b.to || a.bytes !== b.bytes || (a.offset >= 0 && b.offset >= 0 && a.offset !== b.offset);
}

function firstDifference(rank, mine, reference) {
  const a = sentBy(mine, rank), b = sentBy(reference, rank), most = Math.max(a.length, b.length);
  for (let i = 0; i < most; i++)
    if (differs(a[i], b[i])) {
      const step = Math.min(a[i] ? a[i].round : Infinity, b[i] ? b[i].round : Infinity);
      return { rank, nth: i + 1, mine: a[i], reference: b[i], step };
    }
  return null;
}

/* null: they send the same. */
function findDifference(ranks, mine, reference) {
  let first = null;
  for (let rank = 0; rank < ranks; rank++) {
    const d = firstDifference(rank, mine, reference);
    if (d && (!first || d.step < first.step)) first = d;
  }
  return first;
}

function whatIsSent(message) {
  if (!message) return 'nothing more';
  const part = message.chunk >= 0 ? `chunk ${message.chunk}, ` : '';
  const place = !part && message.offset >= 0 ? `bytes ${message.offset} to ${message.offset + message.bytes} of its buffer` : bytesText(message.bytes);
  return `${part}${place} to rank ${message.to}`;
}

function differenceText(d) {
  return `message ${d.nth} of rank ${d.rank}: mine sends ${whatIsSent(d.mine)}; the reference sends ${whatIsSent(d.reference)}`;
}

/* What of the reference belongs beside a part: the n-th of the same name as here; else a collective on as long a buffer,
 * another algorithm say; else all of it. */
function twinOf(part, mine, reference) {
  const same = (p) => p.kind === part.kind && p.name === part.name, size = (p) => (p.first ? p.first.count : -1);
  const twins = reference.filter(same), nth = mine.filter(same).indexOf(part);
  if (twins.length) return twins[Math.max(0, nth)] || twins[0];
  const alike = reference.filter((p) => p.kind === part.kind && p.kind === 'collective' && size(p) === size(part));
  return alike[alike.length - 1] || reference[0];
}

/* The part to begin with: a phase that both have, else a collective that has a twin, else all. */
function partToCompare(run, mine, reference) {
  const phase = mine.find((p) => p.kind === 'phase' && p.bytes > 0 && reference.some((q) => q.kind === 'phase' && q.name === p.name));
  if (phase) return phase;
  const usual = usualPart(run, mine);
  return usual.kind !== 'all' && twinOf(usual, mine, reference).kind !== 'all' ? usual : mine[0];
}
