"use strict";
{% include "arrays.js" %}
{% include "kernels.js" %}
{% include "points.js" %}
{% include "target.js" %}
{% include "fixed_point.js" %}
{% include "quasi_newton.js" %}
{% include "descent.js" %}
{% include "ways.js" %}
{% include "model.js" %}
{% include "views.js" %}
{% include "map.js" %}
{% include "field.js" %}
{% include "controls.js" %}

const data = JSON.parse(document.getElementById("data").textContent);
const arrays = Object.fromEntries(Object.entries(data.arrays).map(([name, spec]) => [name, unpack(spec)]));
const components = data.components, K = components.ratio.length;
const samples = {
  scores: unpack(data.samples.scores),
  numbers: unpack(data.samples.numbers).data,
  originals: data.samples.originals ? unpack(data.samples.originals) : null,
  kept: unpack(data.samples.kept).data,
};
const width = data.width;
data.arrays = null; // the text is not needed any more

// The row of a sample, or null where the page does not hold it.
function originalOf(i) {
  const { held } = data.samples;
  const { data: rows } = held ? arrays[held.anchors] : samples.originals;
  const at = held ? samples.numbers[i] : samples.kept.indexOf(i);
  if (at < 0) return null;
  const row = Float64Array.from(rows.subarray(at * width, (at + 1) * width));
  if (held?.origin) arrays[held.origin].data.forEach((value, j) => { row[j] += value; });
  return row;
}

const model = new Model(data.model, arrays, width);
const marks = new Marks(data.samples.labels, samples.scores.rows);
const map = new ScoreMap($("#map"), samples, components, marks);
const view = new VIEWS[data.display.kind]($("#picture"), data.display);

// Where we are: scores z; held where it was set, or following the pointer; the sample that was chosen, or -1.
const here = { z: new Float64Array(K), held: false, chosen: -1, follow: K > 2 };
const last = { point: new Float64Array(width), reliability: null, nearness: 0, nearest: 0 };
const timings = { compute: [], draw: [] };

// Components that are not on the map, as samples near a place of it have them: the nearest most of all, and others the
// less the further they are beside it, so that the picture changes without jumps.
const TRIFLING = 1e-6; // weight of a sample that does not count
const blended = new Float64Array(K);
function blend(u, v, z) {
  const [a, b] = map.range(0), [c, d] = map.range(1), { data: scores, rows } = samples.scores;
  const squares = (blend.squares ??= new Float64Array(rows));
  let least = Infinity;
  for (let i = 0; i < rows; i += 1) {
    const p = (map.score(i, 0) - u) / (b - a), q = (map.score(i, 1) - v) / (d - c);
    squares[i] = p * p + q * q;
    if (squares[i] < least) least = squares[i];
  }
  blended.fill(0);
  let total = 0;
  for (let i = 0; i < rows; i += 1) {
    const ratio = squares[i] > least ? least / squares[i] : 1;
    const weight = ratio ** 8;
    if (weight < TRIFLING) continue;
    total += weight;
    for (let k = 0; k < K; k += 1) blended[k] += weight * scores[i * K + k];
  }
  for (let k = 0; k < K; k += 1) if (!map.pair.includes(k)) z[k] = blended[k] / total;
}

function place(u, v, z) {
  if (here.follow) blend(u, v, z);
  z[map.pair[0]] = u;
  if (map.pair[1] >= 0) z[map.pair[1]] = v;
}

// How near the nearest sample is, on the scale of reliability: 1 / (1 + q), q its squared distance over the usual length.
function nearnessOf(z) {
  const { place: nearest, square } = nearestRow(samples.scores, z);
  return { nearest, distance: Math.sqrt(square), nearness: 1 / (1 + square / model.spread) };
}

// The field behind the map: at each place what the meter would show there.
const shown = { by: model.stages && data.model.way.kind !== "linear" ? "reliability" : "nearness" };
const probe = new Float64Array(K);
const field = new Field((across, up, milliseconds) => {
  const [a, b] = map.range(0), [c, d] = map.range(1);
  probe.set(here.z);
  place(a + (b - a) * across, c + (d - c) * up, probe);
  if (shown.by === "nearness") return nearnessOf(probe).nearness;
  return model.judge(probe, milliseconds);
});

// What samples themselves have, and light and words by comparison with it.
const ENOUGH = 0.9, TOO_LITTLE = 0.75; // of what is usual for samples
const LOOKED_AT = 24; // samples
const usual = { reliability: usualReliability(), nearness: 1 / (1 + data.samples.usual ** 2 / model.spread) };

function usualReliability() {
  if (!model.stages) return 1;
  const { data: scores, rows } = samples.scores, count = Math.min(rows, LOOKED_AT), found = [];
  for (let n = 0; n < count; n += 1) {
    const i = Math.floor((n * rows) / count);
    probe.set(scores.subarray(i * K, (i + 1) * K));
    found.push(model.judge(probe));
  }
  return found.sort((p, q) => p - q)[Math.floor(count / 2)];
}

// 1 for what is usual, 0 for 60 % of it.
const DIMMEST = 0.6;
function lightOf(value) {
  return Math.max(0, Math.min(1, (value / usual[shown.by] - DIMMEST) / (1 - DIMMEST)));
}

function drawShade() {
  map.drawShade(field, lightOf, TOO_LITTLE * usual[shown.by]);
  $("#lit").hidden = !field.cells;
  $("#unlit").hidden = field.cells > 0;
}

let moved = true, pending = false, asked = false, quietSince = 0;
const EFFORT = 10; // milliseconds of a frame in which the answer is sought; what is found by then is shown
const IDLE = 120; // milliseconds without movement, after which the field is worked on
const SLICE = 7; // milliseconds of a frame that it may take

function ask() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(frame);
}

function frame(now) {
  asked = false;
  if (moved || pending) {
    moved = false;
    quietSince = now;
    update(EFFORT);
  } else if (now - quietSince > IDLE && !field.done && field.work(SLICE)) drawShade();
  if (moved || pending || !field.done) ask();
}

// Show the answer, or what is found of it within so many milliseconds.
function update(milliseconds = Infinity) {
  const begun = performance.now();
  const { point, reliability, done } = model.answer(here.z, milliseconds);
  pending = !done;
  last.point.set(point);
  Object.assign(last, { reliability }, nearnessOf(here.z));
  const computed = performance.now();
  view.draw(last.point);
  compare();
  map.drawCursor(here.z[map.pair[0]], map.pair[1] < 0 ? 0 : here.z[map.pair[1]], here.chosen);
  showMeters();
  showSliders();
  timings.compute.push(computed - begun);
  timings.draw.push(performance.now() - computed);
  if (timings.compute.length > 2000) timings.compute.splice(0, 1000), timings.draw.splice(0, 1000);
  if (done) announce();
}

// Beside the picture: the original of the sample that was chosen, else the nearest sample.
const beside = { sample: -1, chosen: false };
function compare() {
  const chosen = here.chosen >= 0, sample = chosen ? here.chosen : last.nearest;
  if (sample === beside.sample && chosen === beside.chosen) return;
  Object.assign(beside, { sample, chosen });
  const original = originalOf(sample), which = chosen ? "original" : "nearest sample";
  view.compare(original, original ? `${which}, ${nameOf(sample)}` : `the page does not hold the original of ${nameOf(sample)}`);
}

// Moving.
function go() {
  moved = true;
  ask();
}

function refield() {
  field.restart();
  quietSince = performance.now();
  ask();
}

function hold(held) {
  here.held = held;
  $("#hold").setAttribute("aria-pressed", String(held));
}

function goTo(u, v) {
  here.chosen = -1;
  say("");
  place(u, v, here.z);
  go();
}

function choose(i) {
  here.chosen = i;
  say("");
  if (i < 0) return;
  here.z.set(samples.scores.data.subarray(i * K, (i + 1) * K));
  if (!originalOf(i)) say(`Sample ${nameOf(i)}: the page holds the originals of ${samples.kept.length} of ${samples.scores.rows} samples, and not of this one.`);
  hold(true);
  if (!here.follow) refield();
  go();
}

function say(text) {
  $("#said").textContent = text;
}

function reset() {
  here.z.set(components.middle);
  here.chosen = -1;
  hold(true);
  say(data.centered ? "All components are 0: the mean of the training samples in feature space." : "Each component is at the mean of the samples' scores. (Nothing was centered: 0 would be the origin of feature space.)");
  if (!here.follow) refield();
  go();
}

async function copy() {
  const text = `[[${Array.from(here.z, (value) => Number(value.toPrecision(9))).join(", ")}]]`;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { class: "aside", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  copy.text = text;
  say(`Scores copied: paste them into model.inverse_transform(...).${data.own ? "" : " Its answer is the model's own; this page computes a ridge regression in its place, so that numbers differ."}`);
}

function repaint() {
  map.resize();
  map.drawDots();
  drawShade();
  makeLegend();
  view.redraw();
  go();
}

// The first place: the sample in the midst of the map, of those whose originals are here.
function begin() {
  const middle = (axis) => {
    const places = Array.from({ length: samples.scores.rows }, (_, i) => map.score(i, axis)).sort((p, q) => p - q);
    return places[Math.floor(places.length / 2)];
  };
  const [x, y] = map.toScreen(middle(0), middle(1));
  here.z.set(samples.scores.data.subarray(0, K));
  const i = map.hit(x, y, Infinity, samples.kept);
  here.z.set(samples.scores.data.subarray(i * K, (i + 1) * K));
}

makeControls();
makeSliders();
begin();
listen();
new ResizeObserver(repaint).observe($("#map"));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
repaint();

// For the console: explorer.at([...scores]) answers as model.invert does in Python.
window.explorer = {
  at(z) {
    const { point, reliability } = model.answer(z);
    return { point: Array.from(point), reliability, ...nearnessOf(z) };
  },
  show(z) {
    here.z.set(z);
    here.chosen = -1;
    update();
  },
  here, last, timings, field, model, map, copy,
};
