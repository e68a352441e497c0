/* SPDX-License-Identifier: MIT */
/*
 * Time in steps: how the messages of a part would follow each other if every message took one step, and a rank sent and
 * received one at a time. The rules are those of the virtual network (p2p/shared/network.h) with a cost of one:
 *
 *      a send begins when the rank has come so far and its outgoing port is free; a blocking one takes a step
 *      what is sent arrives a step later, or when the incoming port is free
 *
 * The order of a rank's own sends and receives is that of the run.
 */

function endpointsOf(part) {
  const items = [];
  for (const m of part.messages) {
    items.push({ type: 'send', rank: m.from, m, clock: m.leaves, at: m.sent, order: m.sentOrder });
    if (m.received >= 0)
      items.push({ type: 'receive', rank: m.to, m, clock: m.arrives, at: m.received, order: m.receivedOrder });
  }
  for (const s of part.slices)
    if (s.kind === 'compute') items.push({ type: 'combine', rank: s.rank, slice: s, clock: s.end, at: s.end, order: s.order });
  return items;
}

/* On a virtual network what goes on in the background has a time of its own, and is noted beside the rest. */
function listsByRank(run, items) {
  const lists = Array.from({ length: run.ranks }, () => []);
  for (const item of items) lists[item.rank].push(item);
  for (const list of lists) list.sort((a, b) => (run.virtual ? a.at - b.at : 0) || a.order - b.order);
  return lists;
}

/* Every item after those it depends on: a receive after its send. */
function inCausalOrder(lists) {
  const next = lists.map(() => 0), sent = new Set(), result = [], waiting = new Map(), todo = lists.map((_, i) => i);
  while (todo.length) {
    const rank = todo.pop(), list = lists[rank];
    while (next[rank] < list.length) {
      const item = list[next[rank]];
      if (item.type === 'receive' && !sent.has(item.m)) {
        waiting.set(item.m, rank);
        break;
      }
      next[rank]++;
      result.push(item);
      if (item.type !== 'send') continue;
      sent.add(item.m);
      if (waiting.has(item.m)) todo.push(waiting.get(item.m));
    }
  }
  return result.concat(...lists.map((list, rank) => list.slice(next[rank])));
}

function waitsForItsEnd(run, message) {
  const call = run.slices[message.sentIn];
  return call ? /_s?send$/.test(call.name) : false;
}

function takeStep(run, ports, item) {
  const port = ports[item.rank];
  if (item.type === 'send') {
    item.m.round = Math.max(port.now, port.out);
    item.m.arrival = Infinity;
    port.out = item.m.round + 1;
    if (waitsForItsEnd(run, item.m)) port.now = port.out;
    item.step = item.m.round;
  } else if (item.type === 'receive') {
    const from = item.m.from === item.m.to ? item.m.round : Math.max(item.m.round || 0, port.in);
    item.m.arrival = from + 1;
    port.in = item.m.arrival;
    port.now = Math.max(port.now, item.m.arrival);
    item.step = item.m.arrival;
  } else {
    item.step = port.now;
  }
}

/* Items in causal order, each with its `clock` and its `step`; and where to stop in either kind of time. */
function makeTimeline(run, part) {
  const items = inCausalOrder(listsByRank(run, endpointsOf(part)));
  const ports = Array.from({ length: run.ranks }, () => ({ now: 0, out: 0, in: 0 }));
  items.forEach((item, i) => {
    item.index = i;
    takeStep(run, ports, item);
  });
  const last = items.reduce((t, item) => Math.max(t, item.step), 0);
  const clock = clockStops(part, items), stops = { step: Array.from({ length: last + 1 }, (_, i) => i), clock };
  const sorted = (by) => [...items].sort((a, b) => a[by] - b[by] || a.index - b.index);
  return { items, stops, sorted: { step: sorted('step'), clock: sorted('clock') }, range: { step: [0, Math.max(1, last)], clock: [clock[0], Math.max(clock[clock.length - 1], clock[0] + 1)] } };
}

function clockStops(part, items) {
  const times = new Set([part.start]);
  for (const item of items) times.add(item.clock);
  times.add(part.end);
  return [...times].sort((a, b) => a - b);
}
