/* SPDX-License-Identifier: MIT */
/* What every picture needs: colours of the theme, a canvas in sharp pixels, fonts, hatching. */

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const COLOURS = {};

function readColours() {
  for (const name of ['paper', 'panel', 'ink', 'soft', 'line', 'faint', 'own', 'own-ink', 'blue', 'sky', 'green', 'orange',
    'vermillion', 'purple', 'yellow', 'on-strong', 'mark']) COLOURS[name] = css(name);
}

/* A canvas in sharp pixels: sets its size, returns what to draw with. */
function openCanvas(canvas) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

function fontSize() {
  return parseFloat(getComputedStyle(document.body).fontSize);
}

function font(size, weight = '') {
  return `${weight} ${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
}

let hatching = {};

function hatch(g, colour) {
  if (hatching[colour]) return hatching[colour];
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const t = tile.getContext('2d');
  t.strokeStyle = colour;
  t.lineWidth = 1.6;
  for (const d of [-8, 0, 8]) {
    t.beginPath();
    t.moveTo(d, 8);
    t.lineTo(d + 8, 0);
    t.stroke();
  }
  return hatching[colour] = g.createPattern(tile, 'repeat');
}
