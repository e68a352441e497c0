/* SPDX-License-Identifier: MIT */
/* The controls, and what holds all of it together: one view, or two side by side with one cursor. */

const page = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const player = { views: [], by: 'step', at: 0, playing: false, speed: 1, dirty: true, ready: 0 };

const LONG = 400; /* steps */

/* ---- Views ---- */

function newView(raw, name) {
  const run = readRun(raw), box = document.createElement('div');
  box.className = 'view';
  if (name) box.append(Object.assign(document.createElement('h2'), { className: 'view-name', textContent: name }));
  const diagram = Object.assign(document.createElement('canvas'), { className: 'diagram', tabIndex: 0 });
  const bufferCanvas = Object.assign(document.createElement('canvas'), { className: 'buffers' });
  box.append(diagram, bufferCanvas);
  $('stage').append(box);
  const view = { run, stage: $('stage'), diagram, bufferCanvas, parts: findParts(run), by: 'step', time: 0, matrixOf: 'bytes', fresh: new Set() };
  view.lastStop = () => stopBefore(view);
  return view;
}

function showPart(view, part) {
  fillPhase(view.run, part);
  view.part = part;
  view.timeline = makeTimeline(view.run, part);
  view.buffers = makeBuffers(view.run, part, view.timeline);
  view.knowsParts = view.buffers !== null;
  view.expectation = expectation(view.run, part);
  view.slices = {};
  for (const s of view.run.slices)
    if (part.kind === 'all' || (s.end >= part.start && s.start <= part.end)) (view.slices[s.kind] ||= []).push(s);
  view.all = null;
}

function fitWindow(view) {
  const [from, to] = view.timeline.range[view.by], room = (to - from) * 0.03;
  view.from = from - room;
  view.to = to + room;
}

/* The last stop at which something was done before the time of the cursor. */
function stopBefore(view) {
  const stops = view.timeline.stops[view.by];
  let low = 0, high = stops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stops[middle] < view.time) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? stops[low - 1] : -Infinity;
}

/* ---- The cursor ---- */

function main() {
  return player.views[0];
}

/* Where the cursor may stand: of two runs the steps of the longer one, up to the first difference. */
function stops() {
  if (player.views.length === 1) return main().timeline.stops[player.by];
  const last = player.difference ? player.difference.step + 1
    : Math.max(...player.views.map((v) => v.timeline.range.step[1]));
  return Array.from({ length: last + 1 }, (_, i) => i);
}

function moveTo(time) {
  const list = stops();
  player.at = Math.max(list[0], Math.min(list[list.length - 1], time));
  for (const view of player.views) {
    view.time = player.at;
    const last = view.lastStop();
    view.fresh = new Set(view.part.messages.length > 20000 ? [] : itemsNow(view).filter((i) => i.type !== 'combine' &&
      (view.by === 'clock' || i.type === 'receive')).map((i) => i.m));
    view.freshAfter = last;
    keepInSight(view);
  }
  player.dirty = true;
}

function keepInSight(view) {
  const span = view.to - view.from;
  if (view.time >= view.from + span * 0.02 && view.time <= view.to - span * 0.02) return;
  view.from = view.time - span * 0.3;
  view.to = view.from + span;
}

function step(direction) {
  const list = stops(), eps = 1e-9;
  const next = direction > 0 ? list.find((s) => s > player.at + eps) : list.filter((s) => s < player.at - eps).pop();
  play(false);
  if (next !== undefined) moveTo(next);
}

function play(on) {
  const list = stops();
  if (on && player.at >= list[list.length - 1]) moveTo(list[0]);
  player.playing = on;
  player.before = 0;
  $('play').textContent = on ? 'stop' : 'play';
}

/* A step takes a second; by the clock the whole takes twenty, or a tenth of a second for each thing that happens. */
function rate() {
  const list = stops();
  if (player.by === 'step') return 1;
  return (list[list.length - 1] - list[0]) / Math.min(20, 2 + list.length * 0.1);
}

function advance(now) {
  if (player.before) moveTo(player.at + ((now - player.before) / 1000) * rate() * player.speed);
  player.before = now;
  const list = stops();
  if (player.at >= list[list.length - 1]) play(false);
}

/* ---- Drawing ---- */

function drawControls() {
  const list = stops(), last = list[list.length - 1];
  $('slider').min = list[0];
  $('slider').max = last;
  $('slider').value = player.at;
  $('where').textContent = player.by === 'step' ? `step ${Number(player.at.toFixed(1))} of ${last}`
    : `${timeText(player.at - list[0])} of ${timeText(last - list[0])}`;
  $('by-step').setAttribute('aria-pressed', player.by === 'step');
  $('by-clock').setAttribute('aria-pressed', player.by === 'clock');
}

function draw() {
  player.dirty = false;
  player.views.forEach(placeBuffers);
  for (const view of player.views) {
    drawBuffers(view);
    drawDiagram(view);
  }
  drawSentence(main());
  drawCode(main(), page.sources);
  drawCounters(main());
  drawMatrix(main());
  drawControls();
}

function frame(now) {
  if (player.playing) advance(now);
  if (player.dirty) draw();
  requestAnimationFrame(frame);
}

/* ---- Choices ---- */

function chooseTime(by) {
  if (player.views.length > 1) by = 'step'; /* the clocks of two runs have nothing to do with each other */
  player.by = by;
  for (const view of player.views) {
    view.by = by;
    fitWindow(view);
    if (by === 'step' && view.to > LONG) view.to = 60; /* the beginning: nothing could be seen of the whole */
  }
  moveTo(stops()[0]);
}

function choosePart(key) {
  const view = main(), part = view.parts.find((p) => p.key === key) || view.parts[0];
  showPart(view, part);
  if (player.views.length > 1) compareWith(part);
  chooseTime(part.messages.length || part.kind !== 'all' ? player.by : 'clock');
  $('subtitle').textContent = subtitle(view);
}

function compareWith(part) {
  const [view, other] = player.views;
  showPart(other, twinOf(part, view.parts, other.parts));
  const ranks = Math.max(view.run.ranks, other.run.ranks);
  player.difference = findDifference(ranks, view.part, other.part);
  view.differing = player.difference && player.difference.mine;
  other.differing = player.difference && player.difference.reference;
  $('notice').hidden = false;
  $('notice').innerHTML = player.difference ? `<b>the first difference</b> (step ${player.difference.step + 1}): ${
    escapeText(differenceText(player.difference))}` : 'The two send the same messages in the same order.';
}

function zoom(factor, around) {
  for (const view of player.views) {
    const middle = around === undefined ? view.time : around, [low, high] = view.timeline.range[view.by];
    const most = (high - low) * 1.2, span = Math.min(most, Math.max(most / 5000, (view.to - view.from) * factor));
    view.from = middle - ((middle - view.from) / (view.to - view.from)) * span;
    view.to = view.from + span;
  }
  player.dirty = true;
}

function toggleTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
  hatching = {};
  readColours();
  player.dirty = true;
}

/* ---- Words on top ---- */

function subtitle(view) {
  const { run } = view, words = [plural(run.ranks, 'rank'), `world ${run.world}`];
  if (run.virtual) words.push(run.network ? `virtual time: ${run.network.latencyUs} µs, ${(run.network.bandwidth / 1e9).toPrecision(3)} GB/s` : 'virtual time');
  words.push(plural(view.part.messages.length, 'message'), bytesText(view.part.messages.reduce((s, m) => s + m.bytes, 0)));
  if (run.outcome !== 'finished') words.push(`ended: ${run.outcome}`);
  if (run.dropped) words.push(`only the beginning: ${run.dropped} events dropped`);
  return words.join(' · ');
}

function fillPicker() {
  const list = main().parts, at = list.indexOf(main().part);
  const shown = list.filter((_, i) => i < 100 || Math.abs(i - at) < 100 || i >= list.length - 100);
  $('focus').replaceChildren(...shown.map((p) => Object.assign(document.createElement('option'), { value: p.key, textContent: partText(p) })));
  $('focus').value = main().part.key;
}

/* ---- Input ---- */

const KEYS = {
  ArrowRight: () => step(1), ArrowLeft: () => step(-1), ' ': () => play(!player.playing),
  Home: () => moveTo(stops()[0]), End: () => moveTo(Infinity), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1.4),
  0: () => (player.views.forEach(fitWindow), player.dirty = true), t: () => chooseTime(player.by === 'step' ? 'clock' : 'step'),
  f: () => $('focus').focus(), d: toggleTheme, '?': openHelp,
  m: () => (player.views.forEach((v) => v.matrixOf = v.matrixOf === 'bytes' ? 'messages' : 'bytes'),
  $('matrix-name').textContent = `${main().matrixOf} from row to column`, player.dirty = true),
};

function openHelp() {
  $('help-box').showModal();
  showLegend();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('help-box').open) return;
  const typing = event.target.tagName === 'SELECT' && event.key.length > 1;
  const action = typing ? null : KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function listenTo(view) {
  let drag = null;
  const place = (event) => [event.offsetX, event.offsetY];
  view.diagram.addEventListener('wheel', (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, view.layout.t(event.offsetX));
  }, { passive: false });
  view.diagram.addEventListener('pointerdown', (event) => {
    view.diagram.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, from: view.from, to: view.to, moved: false };
  });
  view.diagram.addEventListener('pointermove', (event) => {
    const [x, y] = place(event);
    if (!drag) return showTip(view, event, x, y);
    drag.moved = drag.moved || Math.abs(x - drag.x) > 4;
    const shift = ((x - drag.x) / (view.layout.right - view.layout.left)) * (drag.to - drag.from);
    if (drag.moved) for (const v of player.views) v.from = drag.from - shift, v.to = drag.to - shift;
    player.dirty = true;
    return undefined;
  });
  view.diagram.addEventListener('pointerup', (event) => {
    if (drag && !drag.moved) play(false), moveTo(nearestStop(view.layout.t(event.offsetX)));
    drag = null;
  });
  view.diagram.addEventListener('pointerleave', () => $('tip').hidden = true);
}

function nearestStop(time) {
  return stops().reduce((a, b) => (Math.abs(b - time) < Math.abs(a - time) ? b : a));
}

function showTip(view, event, x, y) {
  const text = whatIsAt(view, x, y), tip = $('tip');
  tip.hidden = !text;
  tip.textContent = text;
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 340)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

function listen() {
  document.addEventListener('keydown', onKey);
  window.addEventListener('resize', () => player.dirty = true);
  $('slider').addEventListener('input', () => (play(false), moveTo(player.playing ? 0 : nearestIfSteps(Number($('slider').value)))));
  $('focus').addEventListener('change', () => choosePart($('focus').value));
  $('speed').addEventListener('change', () => player.speed = Number($('speed').value));
  $('matrix').addEventListener('click', KEYS.m);
  const clicks = { first: KEYS.Home, back: KEYS.ArrowLeft, play: KEYS[' '], forward: KEYS.ArrowRight, final: KEYS.End,
    theme: toggleTheme, help: openHelp, 'by-step': () => chooseTime('step'), 'by-clock': () => chooseTime('clock') };
  for (const [id, action] of Object.entries(clicks)) $(id).addEventListener('click', (event) => (action(), event.currentTarget.blur()));
  player.views.forEach(listenTo);
}

function nearestIfSteps(time) {
  return player.by === 'clock' ? nearestStop(time) : time;
}

/* ---- Begin ---- */

function start() {
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches || location.hash.includes('dark');
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  readColours();
  const names = page.traces.length > 1 ? ['mine', 'the reference'] : [''];
  player.views = page.traces.map((raw, i) => newView(raw, names[i]));
  const view = main(), two = player.views.length > 1;
  const part = two ? partToCompare(view.run, view.parts, player.views[1].parts) : usualPart(view.run, view.parts);
  $('title').textContent = page.title || view.run.program || partText(part);
  document.title = `${$('title').textContent} · Pairwise replay`;
  $('by-clock').disabled = two;
  showPart(view, part);
  fillPicker();
  const ofItsOwn = part.kind === 'phase' && view.parts.filter((p) => p.kind === 'phase').length > 1;
  player.by = !two && (ofItsOwn || (view.run.end && !view.run.messages.length)) ? 'clock' : 'step';
  choosePart(part.key);
  showEnding(view);
  if (view.run.end && !two) moveTo(Infinity);
  listen();
  draw();
  player.ready = performance.now();
  requestAnimationFrame(frame);
}

start();
