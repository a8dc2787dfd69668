// A row drawn as an image, as a curve or as bars; the original of a chosen sample stands beside it.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") made.textContent = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const NUMBERS_FONT = "12px system-ui, sans-serif";

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function figureOf(number) {
  if (!Number.isFinite(number)) return "-";
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return number.toExponential(2);
  return String(Number(number.toPrecision(4)));
}

// A number of a column with this deviation, with two digits below it.
function figureIn(deviation, number) {
  if (!(deviation > 0 && Number.isFinite(number))) return figureOf(number);
  const power = Math.floor(Math.log10(deviation));
  if (deviation >= 1e-4 && deviation < 1e6) return number.toFixed(Math.max(2 - power, 0));
  const digits = number === 0 ? 2 : Math.floor(Math.log10(Math.abs(number))) - power + 2;
  return number.toExponential(Math.max(0, Math.min(digits, 15)));
}

// A canvas as large as its place on the screen, with as many pixels as the screen has there.
function fitted(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.max(Math.round(canvas.clientWidth), 1), height = Math.max(Math.round(canvas.clientHeight), 1);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { pen, width, height };
}

class ImageView {
  constructor(root, display) {
    this.display = display;
    const { height, width } = display.image;
    this.now = this.frame("pre-image", height, width);
    this.then = this.frame("original", height, width);
    root.classList.add("images");
    root.append(this.now.figure, this.then.figure);
    this.compare(null, "");
  }

  frame(words, height, width) {
    const canvas = element("canvas", { width, height, role: "img", "aria-label": words });
    canvas.style.aspectRatio = `${width} / ${height}`;
    const caption = element("figcaption", { text: words });
    const pen = canvas.getContext("2d");
    const pixels = pen.createImageData(width, height);
    pixels.data.fill(255);
    return { figure: element("figure", { class: "frame" }, canvas, caption), caption, pen, pixels };
  }

  draw(x) {
    this.paint(this.now, x);
  }

  compare(x, words) {
    this.then.figure.classList.toggle("empty", !x);
    this.then.caption.textContent = words;
    if (x) this.paint(this.then, x);
    else this.then.pen.clearRect(0, 0, this.then.pixels.width, this.then.pixels.height);
  }

  paint({ pen, pixels }, x) {
    const { low, high, image } = this.display;
    const { data } = pixels, scale = 255 / (high - low), size = image.height * image.width;
    if (image.channels === 1) {
      for (let i = 0; i < size; i += 1) data[4 * i] = data[4 * i + 1] = data[4 * i + 2] = (x[i] - low) * scale;
    } else {
      const step = image.channels_first ? 1 : 3, apart = image.channels_first ? size : 1;
      for (let i = 0; i < size; i += 1) {
        for (let c = 0; c < 3; c += 1) data[4 * i + c] = (x[i * step + c * apart] - low) * scale;
      }
    }
    pen.putImageData(pixels, 0, 0);
  }

  redraw() {}
}

class SignalView {
  constructor(root, display) {
    this.display = display;
    this.band = unpack(display.band).data;
    this.canvas = element("canvas", { role: "img", "aria-label": "pre-image as a curve" });
    this.caption = element("figcaption");
    root.classList.add("signals");
    root.append(element("figure", { class: "frame" }, this.canvas, this.caption));
    this.x = this.original = null;
    this.say();
    this.redraw();
  }

  say(words = null) {
    const key = (name, text) => element("span", { class: `key ${name}`, text });
    this.caption.replaceChildren(key("now", "pre-image"), key("band", "8 of 10 samples lie here"));
    if (words) this.caption.insertBefore(key("then", words), this.caption.lastChild);
  }

  draw(x) {
    this.x = x;
    this.paint();
  }

  compare(x, words) {
    this.original = x;
    this.say(x ? words : null);
    if (this.x) this.paint();
  }

  redraw() {
    this.drawn = fitted(this.canvas);
    this.drawn.pen.font = NUMBERS_FONT;
    const ticks = ticksOf(this.display.low, this.display.high, 5), texts = tickTexts(ticks);
    const longest = Math.max(...texts.map((text) => this.drawn.pen.measureText(text).width));
    this.axis = { ticks, texts, left: Math.ceil(longest) + 12 };
    this.colors = { ink: cssColor("--quiet"), line: cssColor("--line"), now: cssColor("--accent"), then: cssColor("--bad"), band: cssColor("--band") };
    if (this.x) this.paint();
  }

  paint() {
    const { pen, width, height } = this.drawn;
    const { low, high } = this.display, { left, ticks, texts } = this.axis, bottom = 22, top = 8, right = 8;
    const room = 0.04 * (high - low), d = this.x.length;
    const across = (j) => left + ((width - left - right) * j) / Math.max(d - 1, 1);
    const up = (v) => top + ((height - top - bottom) * (high + room - v)) / (high - low + 2 * room);
    pen.clearRect(0, 0, width, height);
    pen.beginPath();
    for (let j = 0; j < d; j += 1) pen.lineTo(across(j), up(this.band[d + j]));
    for (let j = d - 1; j >= 0; j -= 1) pen.lineTo(across(j), up(this.band[j]));
    pen.fillStyle = this.colors.band;
    pen.fill();
    pen.font = NUMBERS_FONT;
    pen.fillStyle = this.colors.ink;
    pen.strokeStyle = this.colors.line;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    ticks.forEach((value, i) => {
      pen.beginPath();
      pen.moveTo(left, up(value));
      pen.lineTo(width - right, up(value));
      pen.stroke();
      pen.fillText(texts[i], left - 6, up(value));
    });
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const value of ticksOf(0, d - 1, 6)) pen.fillText(String(value), across(value), height - bottom + 6);
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left - right, height - bottom + 2);
    pen.clip();
    pen.lineJoin = "round";
    if (this.original) this.curve(pen, this.original, across, up, this.colors.then, 1.5, [5, 3]);
    this.curve(pen, this.x, across, up, this.colors.now, 2.5, []);
    pen.restore();
  }

  curve(pen, x, across, up, color, width, dashes) {
    pen.beginPath();
    for (let j = 0; j < x.length; j += 1) pen.lineTo(across(j), up(x[j]));
    pen.setLineDash(dashes);
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.stroke();
    pen.setLineDash([]);
  }
}

// Round numbers between low and high, about so many.
function ticksOf(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((part) => part >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i += 1) ticks.push(Number((i * step).toPrecision(15)));
  return ticks;
}

// Their texts, with the decimals that tell them apart.
function tickTexts(ticks) {
  if (ticks.length < 2) return ticks.map(figureOf);
  const power = Math.floor(Math.log10(ticks[1] - ticks[0]) + 1e-9), decimals = Math.max(-power, 0);
  const largest = Math.max(...ticks.map(Math.abs));
  if (largest < 1e7 && decimals <= 6) return ticks.map((tick) => tick.toFixed(decimals));
  const digits = Math.max(Math.floor(Math.log10(largest)) - power, 0);
  return ticks.map((tick) => tick.toExponential(Math.min(digits, 15)));
}

class TableView {
  constructor(root, display) {
    this.display = display;
    this.mean = unpack(display.mean).data;
    this.deviation = unpack(display.deviation).data;
    root.classList.add("bars");
    root.style.setProperty("--units", 2 * display.reach);
    root.style.setProperty("--digits", this.longest());
    const list = element("ul", { "aria-label": "columns of the pre-image" });
    this.rows = display.names.map((name, j) => this.row(list, name, j));
    const reach = display.reach;
    const scale = element("div", { class: "scale", "aria-hidden": "true" }, element("span"), element("span", { class: "ends" },
      element("span", { text: `−${reach} sd` }), element("span", { text: "mean" }), element("span", { text: `+${reach} sd` })), element("span"));
    this.caption = element("p", { class: "quiet" });
    root.append(scale, list, this.caption);
    this.compare(null);
  }

  row(list, name, j) {
    const bar = element("i", { class: "bar" }), mark = element("i", { class: "mark" });
    const value = element("span", { class: "value" });
    const about = `${name}: mean ${this.text(this.mean[j], j)}, standard deviation ${figureOf(this.deviation[j])}`;
    const line = element("li", { title: about }, element("span", { class: "name", text: name }), element("span", { class: "track" }, bar, mark), value);
    mark.hidden = true;
    list.append(line);
    return { line, bar, mark, value, about };
  }

  text(value, j) {
    return figureIn(this.deviation[j], value);
  }

  // Most characters of the numbers that bars reach.
  longest() {
    const ends = [-this.display.reach, this.display.reach];
    const texts = Array.from(this.mean, (mean, j) => ends.map((end) => this.text(mean + end * this.deviation[j], j)));
    return Math.max(9, ...texts.flat().map((text) => text.length));
  }

  units(value, j) {
    return this.deviation[j] > 0 ? (value - this.mean[j]) / this.deviation[j] : 0;
  }

  share(value, j) {
    const { reach } = this.display;
    return Math.max(-1, Math.min(1, this.units(value, j) / reach));
  }

  draw(x) {
    this.rows.forEach(({ bar, value }, j) => {
      const share = this.share(x[j], j), text = this.text(x[j], j);
      bar.style.transform = `scaleX(${share.toFixed(4)})`;
      if (value.textContent !== text) value.textContent = text;
    });
    this.x = x;
  }

  compare(x, words) {
    this.rows.forEach(({ line, mark, about }, j) => {
      mark.hidden = !x;
      if (x) mark.style.left = `${(50 + 50 * this.share(x[j], j)).toFixed(2)}%`;
      line.title = x ? `${about}; ${words}: ${this.text(x[j], j)}` : about;
    });
    const { left_out: left } = this.display;
    const marks = x ? `Marks: ${words}. ` : "";
    this.caption.textContent = `${marks}Bars: standard deviations from the mean; numbers: the values themselves.${left ? ` ${left} more columns are not shown.` : ""}`;
  }

  redraw() {}
}

const VIEWS = { image: ImageView, signal: SignalView, table: TableView };
