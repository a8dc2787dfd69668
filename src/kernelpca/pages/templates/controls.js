// What can be read off and what can be set: meters, sliders, lists, buttons, and the map by pointer and by keys.
const $ = (selector) => document.querySelector(selector);
const meters = { reliability: $("#reliability"), nearness: $("#nearness") };

// What is said by each measure: of what, and in words from good to bad.
const WORDS = {
  reliability: { of: "The picture is", well: "reliable", between: "doubtful", badly: "not reliable", line: "not reliable from here on" },
  nearness: { of: "This place lies", well: "among the data", between: "at the edge of the data", badly: "beyond the data", line: "beyond starts here" },
};

function showMeters() {
  for (const [name, meter] of Object.entries(meters)) {
    const value = last[name];
    if (!meter || value === null) continue;
    const text = value.toFixed(2);
    const number = meter.querySelector(".number");
    if (number.textContent !== text) {
      number.textContent = text;
      meter.querySelector(".needle").style.transform = `scaleX(${value.toFixed(3)})`;
      meter.querySelector(".gauge").setAttribute("aria-valuenow", text);
    }
  }
  const share = last[shown.by] / usual[shown.by], verdict = $("#verdict");
  const { well, between, badly } = WORDS[shown.by];
  const [words, kind] = share >= ENOUGH ? [well, "pass"] : share >= TOO_LITTLE ? [between, "open"] : [badly, "differ"];
  if (verdict.textContent !== words) {
    verdict.textContent = words;
    verdict.className = `verdict ${kind}`;
  }
  const text = `Nearest sample: ${nameOf(last.nearest)}, ${figureOf(last.distance)} away (samples are usually ${figureOf(data.samples.usual)} apart).`;
  const nearest = $("#nearest");
  if (nearest.textContent !== text) nearest.textContent = text;
}

function showWords() {
  for (const part of document.querySelectorAll("[data-word]")) part.textContent = WORDS[shown.by][part.dataset.word];
}

function nameOf(i) {
  const { labels } = data.samples;
  const number = `no. ${samples.numbers[i]}`;
  if (!labels) return number;
  return `${number} (${labels.kind === "classes" ? labels.names[marks.values[i]] : figureOf(marks.values[i])})`;
}

let speaking = 0;
function announce() {
  clearTimeout(speaking);
  speaking = setTimeout(() => {
    const at = map.pair.filter((k) => k >= 0).map((k) => `component ${k + 1}: ${figureOf(here.z[k])}`).join(", ");
    $("#spoken").textContent = `${at}; ${shown.by} ${last[shown.by].toFixed(2)}, ${$("#verdict").textContent}.`;
  }, 600);
}

// Sliders: the first few at hand, the others folded away.
const AT_HAND = 8;
const sliders = [];
function makeSliders() {
  for (let k = 0; k < K; k += 1) {
    const low = components.low[k], high = components.high[k];
    const input = element("input", { type: "range", id: `z${k}`, min: low, max: high, step: "any", value: 0 });
    const output = element("output", { for: `z${k}` });
    const label = element("label", { for: `z${k}` }, element("b", { text: k + 1 }), element("span", { class: "quiet", text: percent(components.ratio[k]) }));
    label.title = `component ${k + 1}, ${percent(components.ratio[k])} of the ${components.whole}`;
    input.setAttribute("aria-label", label.title);
    input.addEventListener("input", () => {
      here.z[k] = Number(input.value);
      here.chosen = -1;
      say("");
      hold(true);
      if (!here.follow && !map.pair.includes(k)) refield();
      go();
    });
    (k < AT_HAND ? $("#sliders") : $("#more")).append(element("div", { class: "slider" }, label, input, output));
    sliders.push({ input, output, shown: NaN });
  }
  const rest = $("#rest");
  rest.hidden = K <= AT_HAND;
  rest.querySelector("summary").textContent = `${K - AT_HAND} more components`;
  rest.addEventListener("toggle", () => showSliders());
}

function showSliders() {
  const open = $("#rest").open;
  for (let k = 0; k < (open ? K : Math.min(K, AT_HAND)); k += 1) {
    const slider = sliders[k], value = here.z[k];
    if (slider.shown === value) continue;
    slider.shown = value;
    if (Number(slider.input.value) !== value) slider.input.value = value;
    slider.output.textContent = figureOf(value);
    slider.input.setAttribute("aria-valuetext", figureOf(value));
  }
}

// The map by pointer and by keys.
const REACH = 9; // pixels around a sample that count as the sample
function listen() {
  const stage = $("#map");
  const at = (event) => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let pressed = null;
  stage.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (pressed && Math.hypot(x - pressed.x, y - pressed.y) > 4) pressed.dragged = true;
    if (pressed?.dragged) hold(true);
    if (pressed?.dragged || (!here.held && event.pointerType !== "touch")) goTo(...map.toScores(x, y));
  });
  stage.addEventListener("pointerdown", (event) => {
    const [x, y] = at(event);
    pressed = { x, y, dragged: false };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointerup", (event) => {
    const [x, y] = at(event);
    if (pressed && !pressed.dragged) {
      const hit = map.hit(x, y, event.pointerType === "touch" ? 2 * REACH : REACH);
      hold(true);
      choose(hit);
      if (hit < 0) goTo(...map.toScores(x, y));
    }
    pressed = null;
  });
  stage.addEventListener("pointercancel", () => { pressed = null; });
  stage.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
    const [a, b] = map.range(0), [c, d] = map.range(1);
    const u = here.z[map.pair[0]], v = map.pair[1] < 0 ? 0 : here.z[map.pair[1]];
    if (steps) {
      const part = (event.shiftKey ? 5 : 1) / 100;
      const into = (value, low, high) => Math.min(Math.max(value, low), high);
      hold(true);
      goTo(into(u + part * steps[0] * (b - a), a, b), into(v + part * steps[1] * (d - c), c, d));
    } else if (event.key === "Enter" || event.key === " ") {
      choose(nearnessOf(here.z).nearest);
    } else if (event.key === "Home") reset();
    else if (event.key === "Escape") hold(false);
    else return;
    event.preventDefault();
  });
}

function makeControls() {
  const [across, up] = [$("#across"), $("#up")];
  for (let k = 0; k < K; k += 1) {
    const text = `${k + 1} (${percent(components.ratio[k])})`;
    across.append(element("option", { value: k, text }));
    up.append(element("option", { value: k, text }));
  }
  across.value = "0";
  up.value = "1";
  up.closest("label").hidden = K < 2;
  const turn = (axis, k) => {
    const other = 1 - axis;
    if (map.pair[other] === k) map.pair[other] = map.pair[axis];
    map.pair[axis] = k;
    across.value = map.pair[0];
    up.value = map.pair[1];
    field.restart();
    repaint();
  };
  across.addEventListener("change", () => turn(0, Number(across.value)));
  up.addEventListener("change", () => turn(1, Number(up.value)));
  const follow = $("#follow");
  follow.checked = here.follow;
  follow.closest("label").hidden = K < 3;
  follow.addEventListener("change", () => {
    here.follow = follow.checked;
    refield();
    drawShade();
  });
  const by = $("#by");
  by.value = shown.by;
  showWords();
  by.addEventListener("change", () => {
    shown.by = by.value;
    showWords();
    refield();
    drawShade();
    go();
  });
  for (const [name, meter] of Object.entries(meters)) meter?.style.setProperty("--usual", usual[name]);
  $("#hold").addEventListener("click", () => hold(!here.held));
  $("#reset").addEventListener("click", reset);
  $("#copy").addEventListener("click", copy);
}

function makeLegend() {
  const { labels } = data.samples, legend = $("#legend");
  if (!labels) return;
  if (labels.kind === "numbers") {
    const stops = Array.from({ length: 9 }, (_, i) => marks.ramp(i / 8)).join(", ");
    const bar = element("span", { class: "ramp" });
    bar.style.background = `linear-gradient(to right, ${stops})`;
    legend.replaceChildren(element("li", { class: "numbers" }, element("span", { text: figureOf(labels.low) }), bar, element("span", { text: figureOf(labels.high) })));
    return;
  }
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  legend.replaceChildren(...labels.names.map((name, c) => {
    const canvas = element("canvas", { width: 14 * ratio, height: 14 * ratio, "aria-hidden": "true" });
    const pen = canvas.getContext("2d"), palette = isDark() ? DARK : LIGHT;
    pen.scale(ratio, ratio);
    trace(pen, c % SHAPES, 7, 7, 5);
    pen.fillStyle = palette[c % palette.length];
    pen.fill();
    const button = element("button", { type: "button", "aria-pressed": String(map.only.has(c)), title: `show ${name} alone` }, canvas, element("span", { text: name }));
    button.addEventListener("click", () => {
      if (!map.only.delete(c)) map.only.add(c);
      button.setAttribute("aria-pressed", String(map.only.has(c)));
      map.drawDots();
    });
    return element("li", {}, button);
  }));
}
