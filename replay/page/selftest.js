/* SPDX-License-Identifier: MIT */
/* With #selftest behind its address the page looks at itself and says what it finds; tests/all/replay.sh reads it. */

function picture(canvas) {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let hash = 2166136261;
  for (let i = 0; i < data.length; i += 4) hash = Math.imul(hash ^ (data[i] + (data[i + 1] << 8) + (data[i + 2] << 16)), 16777619);
  return hash >>> 0;
}

function look() {
  draw();
  return `${picture(main().diagram)} ${main().buffers ? picture(main().bufferCanvas) : 0} ${$('sentence').textContent}`;
}

/* Sums of all messages of the run by pair, against the rows of p2p_stats. */
function matrixProblems(run) {
  const n = run.ranks, sent = new Map(), problems = [];
  const add = (key, bytes) => {
    const row = sent.get(key) || [0, 0];
    sent.set(key, [row[0] + 1, row[1] + bytes]);
  };
  for (const m of run.messages) {
    add(`s ${m.comm} ${m.from} ${m.to}`, m.bytes);
    if (m.received >= 0) add(`r ${m.comm} ${m.to} ${m.from}`, m.bytes);
  }
  for (const [comm, rank, peer, messagesSent, bytesSent, messagesReceived, bytesReceived] of run.stats) {
    const s = sent.get(`s ${comm} ${rank} ${peer}`) || [0, 0], r = sent.get(`r ${comm} ${rank} ${peer}`) || [0, 0];
    if (s[0] !== messagesSent || s[1] !== bytesSent || r[0] !== messagesReceived || r[1] !== bytesReceived)
      problems.push(`comm ${comm}, rank ${rank}, peer ${peer}`);
    sent.delete(`s ${comm} ${rank} ${peer}`);
    sent.delete(`r ${comm} ${rank} ${peer}`);
  }
  if (run.outcome === 'finished') for (const key of sent.keys()) problems.push(`not in p2p_stats: ${key}`);
  return { problems, n };
}

/* Every collective of all ranks that sends messages has a formula, and sends what it says. */
function formulaProblems(run, parts) {
  const problems = new Set();
  for (const part of parts.filter((p) => p.kind === 'collective' && p.messages.length && !p.first.comm)) {
    const e = expectation(run, part), sent = Array.from({ length: run.ranks }, () => [0, 0]);
    for (const m of part.messages) sent[m.from][0]++, sent[m.from][1] += m.bytes;
    if (!e) problems.add(`none for ${part.name}`);
    else if (sent.some(([messages, bytes], r) => messages !== e.messages[r] || bytes !== e.bytes[r])) problems.add(`not met by ${part.name}`);
  }
  return [...problems];
}

function countersMet(view) {
  if (!view.expectation) return 'none';
  const rows = sums(view), e = view.expectation;
  return rows.every((row, r) => row.messages === e.messages[r] && row.bytes === e.bytes[r]) ? 'met' : 'not met';
}

function buffersDone(view) {
  if (!view.buffers) return 'none';
  const rows = buffersAt(view.buffers, view.by, Infinity);
  return rows.every((row) => row.every((cell) => isComplete(view.buffers, cell))) ? 'complete' : 'not complete';
}

/* Through all stops, forth and back: the pictures of the way back are those of the way there. */
function walk(most) {
  const forth = [], back = [];
  KEYS.Home();
  forth.push(look());
  for (let i = 0; i < Math.min(most, stops().length - 1); i++) KEYS.ArrowRight(), forth.push(look());
  back.unshift(forth[forth.length - 1]);
  for (let i = forth.length - 1; i > 0; i--) KEYS.ArrowLeft(), back.unshift(look());
  const same = forth.every((f, i) => f === back[i]);
  const changes = forth.slice(1).filter((f, i) => f !== forth[i]).length;
  return { stops: forth.length - 1, changes, same };
}

/* Whole pixels by which something sticks out of the window; the table and code boxes scroll by themselves. */
function sticksOut() {
  const boxes = [...document.querySelectorAll('header *, footer *, .view, aside, section')];
  return Math.round(Math.max(0, largest(boxes.map((box) => box.getBoundingClientRect().right - innerWidth))));
}

function selftest() {
  const view = main(), result = { ready: Math.round(player.ready), parts: view.parts.length, ranks: view.run.ranks };
  result.opens = view.part.messages.length > 0 ? 'moving' : 'blank';
  result.out = sticksOut();
  const { problems } = matrixProblems(view.run);
  result.messages = view.run.messages.length;
  result.received = view.run.messages.filter((m) => m.received >= 0).length;
  result.matrix = problems.length ? problems.slice(0, 3).join('; ') : 'equal';
  result.steps = walk(40);
  if (player.views.length === 1) {
    chooseTime('clock');
    result.clock = walk(15);
    chooseTime('step');
  }
  moveTo(Infinity);
  draw();
  result.counters = countersMet(view);
  const formulas = formulaProblems(view.run, view.parts);
  result.formulas = formulas.length ? formulas.join('; ') : 'met';
  result.buffers = buffersDone(view);
  result.requests = performance.getEntriesByType('resource').map((e) => e.name);
  result.difference = player.difference ? differenceText(player.difference) : 'none';
  const started = performance.now();
  for (let i = 0; i < 20; i++) moveTo(stops()[0] + ((stops()[stops().length - 1] - stops()[0]) * i) / 20), draw();
  result.frame = Number(((performance.now() - started) / 20).toFixed(2));
  moveTo(Infinity);
  draw();
  $('selftest').textContent = JSON.stringify(result);
}

if (location.hash.includes('selftest')) selftest();
if (location.hash.includes('step=')) {
  moveTo(Number(/step=([\d.]+)/.exec(location.hash)[1]));
  draw();
}
if (location.hash.includes('clock')) {
  const share = Number((/clock=([\d.]+)/.exec(location.hash) || [0, 1])[1]);
  chooseTime('clock');
  moveTo(nearestStop(stops()[0] + share * (stops()[stops().length - 1] - stops()[0])));
  draw();
}
