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
  return `${part}${bytesText(message.bytes)} to rank ${message.to}`;
}

function differenceText(d) {
  return `message ${d.nth} of rank ${d.rank}: mine sends ${whatIsSent(d.mine)}; the reference sends ${whatIsSent(d.reference)}`;
}

/* The parts to compare: what both have by the same name, a phase before a collective; else all of both. */
function partsToCompare(mine, reference) {
  for (const kind of ['phase', 'collective'])
    for (const p of mine) {
      const same = p.kind === kind && p.bytes > 0 && reference.find((q) => q.kind === kind && q.name === p.name && q.bytes > 0);
      if (same) return [p, same];
    }
  return [mine[0], reference[0]];
}
