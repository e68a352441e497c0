/* SPDX-License-Identifier: MIT */
/*
 * Two runs: the first message that differs. Each rank's messages are compared in the order in which it sent them: to whom,
 * how long, which part of the buffer where both say so. If all send the same: whose message each receive of a rank took,
 * where a rank had a choice: as runs of launch --schedule note it, or in a blocking receive from any source. Of all differences the one in the earliest step counts.
 */

function sentBy(part, rank) {
  return part.messages.filter((m) => m.from === rank).sort((a, b) => a.sentOrder - b.sentOrder);
}

function takenBy(part, rank) {
  const noted = part.slices.some((s) => s.rank === rank && s.options > 1);
  return part.messages.filter((m) => m.to === rank && m.receivedOrder >= 0 && (noted || m.fromAny)).sort((a, b) => a.receivedOrder - b.receivedOrder);
}

function isSentElsewhere(a, b) {
  if (!a || !b) return true;
  return a.to !== b.to || a.bytes !== b.bytes || (a.offset >= 0 && b.offset >= 0 && a.offset !== b.offset);
}

/* What only one run takes is no other choice: the other may have ended before. */
function isTakenFromElsewhere(a, b) {
  return a && b && a.from !== b.from;
}

/* The step is that of the earlier message; if both are there and sent alike, that of the later, so that both are seen. */
function firstDifference(rank, a, b, differs) {
  const most = Math.max(a.length, b.length), taken = differs === isTakenFromElsewhere;
  for (let i = 0; i < most; i++)
    if (differs(a[i], b[i])) {
      const rounds = [a[i], b[i]].filter(Boolean).map((m) => m.round);
      const step = taken ? Math.max(...rounds) : Math.min(...rounds);
      return { rank, nth: i + 1, mine: a[i], reference: b[i], step, taken };
    }
  return null;
}

function earliest(ranks, mine, reference, messagesOf, differs) {
  let first = null;
  for (let rank = 0; rank < ranks; rank++) {
    const d = firstDifference(rank, messagesOf(mine, rank), messagesOf(reference, rank), differs);
    if (d && (!first || d.step < first.step)) first = d;
  }
  return first;
}

/* null: they send the same, and receives take the same. */
function findDifference(ranks, mine, reference) {
  return earliest(ranks, mine, reference, sentBy, isSentElsewhere) || earliest(ranks, mine, reference, takenBy, isTakenFromElsewhere);
}

function whatIsSent(message) {
  if (!message) return 'nothing more';
  const part = message.chunk >= 0 ? `chunk ${message.chunk}, ` : '';
  const place = !part && message.offset >= 0 ? `bytes ${message.offset} to ${message.offset + message.bytes} of its buffer` : bytesText(message.bytes);
  return `${part}${place} to rank ${message.to}`;
}

function differenceText(d) {
  if (d.taken)
    return `receive ${d.nth} of rank ${d.rank}: mine takes the message of rank ${d.mine.from}; the reference takes that of rank ${d.reference.from}`;
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
