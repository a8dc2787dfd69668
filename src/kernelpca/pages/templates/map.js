// The map of the scores: samples as marks, reliability as light, and where we are.
const LIGHT = ["#0060a0", "#c44e00", "#00785c", "#9c3e8c", "#7a6a00", "#4a4f55", "#c93472", "#2a86c5", "#8a4b2d", "#5b5bd6"];
const DARK = ["#6cb8ee", "#ff9e5e", "#45c9a5", "#e39ad5", "#d9c64a", "#c8cdd3", "#ff8fb7", "#9ad4ff", "#d9a184", "#a9a9ff"];
const RAMP = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const SHAPES = 6;

function isDark() {
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function mixed(from, to, share) {
  const a = channels(from), b = channels(to);
  return a.map((value, i) => Math.round(value + (b[i] - value) * share));
}

// Colors and shapes of samples: of classes, of numbers, or one for all.
class Marks {
  constructor(labels, count) {
    this.labels = labels;
    this.values = labels ? unpack(labels.values).data : null;
    this.radius = count > 2500 ? 2.4 : count > 600 ? 3 : 4;
  }

  color(i) {
    const palette = isDark() ? DARK : LIGHT;
    if (!this.labels) return palette[0];
    if (this.labels.kind === "classes") return palette[this.values[i] % palette.length];
    return this.ramp((this.values[i] - this.labels.low) / Math.max(this.labels.high - this.labels.low, 1e-300));
  }

  ramp(share) {
    if (!Number.isFinite(share)) return cssColor("--quiet");
    const stops = isDark() ? RAMP.slice(2) : RAMP.slice(0, 8);
    const place = Math.max(0, Math.min(1, share)) * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2);
    return `rgb(${mixed(stops[low], stops[low + 1], place - low)})`;
  }

  shape(i) {
    return this.labels?.kind === "classes" ? this.values[i] % SHAPES : 0;
  }
}

function trace(pen, shape, x, y, r) {
  pen.beginPath();
  if (shape === 0) pen.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === 1) pen.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  else if (shape === 2 || shape === 4) {
    const s = shape === 2 ? 1 : -1;
    pen.moveTo(x, y - s * 1.25 * r);
    pen.lineTo(x + 1.1 * r, y + s * 0.75 * r);
    pen.lineTo(x - 1.1 * r, y + s * 0.75 * r);
    pen.closePath();
  } else if (shape === 3) {
    pen.moveTo(x, y - 1.3 * r);
    pen.lineTo(x + 1.3 * r, y);
    pen.lineTo(x, y + 1.3 * r);
    pen.lineTo(x - 1.3 * r, y);
    pen.closePath();
  } else {
    const a = 0.42 * r, b = 1.15 * r;
    const corners = [[-a, -b], [a, -b], [a, -a], [b, -a], [b, a], [a, a], [a, b], [-a, b], [-a, a], [-b, a], [-b, -a], [-a, -a]];
    for (const [u, v] of corners) pen.lineTo(x + u, y + v);
    pen.closePath();
  }
}

class ScoreMap {
  constructor(root, samples, components, marks) {
    Object.assign(this, { root, samples, components, marks });
    this.canvases = ["shade", "dots", "cursor"].map((name) => root.querySelector(`canvas.${name}`));
    this.pair = [0, components.ratio.length > 1 ? 1 : -1];
    this.only = new Set();
    this.resize();
  }

  // Sizes are read here alone: reading them between drawings would have the browser lay out the page each time.
  resize() {
    [this.shade, this.dots, this.cursor] = this.canvases.map(fitted);
    const { width, height } = this.dots;
    this.dots.pen.font = NUMBERS_FONT;
    const texts = this.pair[1] < 0 ? [] : tickTexts(ticksOf(...this.range(1), 6));
    const longest = Math.max(0, ...texts.map((text) => this.dots.pen.measureText(text).width));
    this.frame = { left: Math.ceil(longest) + 30, top: 10, right: 12, bottom: 44, width, height };
    this.colors = { mark: cssColor("--cursor"), halo: cssColor("--paper"), ink: cssColor("--ink"), quiet: cssColor("--quiet"), line: cssColor("--line"), dim: cssColor("--dim"), lit: cssColor("--lit") };
  }

  range(axis) {
    const k = this.pair[axis];
    return k < 0 ? [-1, 1] : [this.components.low[k], this.components.high[k]];
  }

  // The place of sample i along an axis; where there is one component only, samples are spread out to be seen.
  score(i, axis) {
    const k = this.pair[axis];
    return k < 0 ? 0.6 * (((i * 0.618034) % 1) - 0.5) : this.samples.scores.data[i * this.samples.scores.columns + k];
  }

  toScreen(u, v) {
    const { left, top, right, bottom, width, height } = this.frame;
    const [a, b] = this.range(0), [c, d] = this.range(1);
    return [left + ((width - left - right) * (u - a)) / (b - a), top + ((height - top - bottom) * (d - v)) / (d - c)];
  }

  toScores(x, y) {
    const { left, top, right, bottom, width, height } = this.frame;
    const [a, b] = this.range(0), [c, d] = this.range(1);
    const across = Math.max(0, Math.min(1, (x - left) / (width - left - right)));
    const down = Math.max(0, Math.min(1, (y - top) / (height - top - bottom)));
    return [a + (b - a) * across, d - (d - c) * down];
  }

  // The sample under a place of the screen, or -1; of all, or of some.
  hit(x, y, within, some = this.samples.numbers.keys()) {
    let best = -1, least = within * within;
    for (const i of some) {
      const [p, q] = this.toScreen(this.score(i, 0), this.score(i, 1));
      const square = (p - x) ** 2 + (q - y) ** 2;
      if (square < least) {
        least = square;
        best = i;
      }
    }
    return best;
  }

  drawDots() {
    const { pen, width, height } = this.dots;
    pen.clearRect(0, 0, width, height);
    this.drawAxes(pen);
    const r = this.marks.radius, some = this.only.size > 0;
    pen.lineWidth = 0.8;
    pen.strokeStyle = this.colors.halo;
    for (let i = 0; i < this.samples.scores.rows; i += 1) {
      const [x, y] = this.toScreen(this.score(i, 0), this.score(i, 1));
      trace(pen, this.marks.shape(i), x, y, r);
      pen.globalAlpha = some && !this.only.has(this.marks.values[i]) ? 0.1 : 0.82;
      pen.fillStyle = this.marks.color(i);
      pen.fill();
      if (r > 2.5) pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  drawAxes(pen) {
    const { left, top, right, bottom, width, height } = this.frame;
    pen.strokeStyle = this.colors.line;
    pen.fillStyle = this.colors.quiet;
    pen.lineWidth = 1;
    pen.font = NUMBERS_FONT;
    pen.strokeRect(left + 0.5, top + 0.5, width - left - right, height - top - bottom);
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const across = ticksOf(...this.range(0), width < 480 ? 4 : 7), below = tickTexts(across);
    across.forEach((u, i) => {
      const x = this.toScreen(u, 0)[0];
      pen.fillText(below[i], x, height - bottom + 5);
      line(pen, x, height - bottom, x, height - bottom + 3);
    });
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    if (this.pair[1] >= 0) {
      const up = ticksOf(...this.range(1), 6), beside = tickTexts(up);
      up.forEach((v, i) => {
        const y = this.toScreen(0, v)[1];
        pen.fillText(beside[i], left - 6, y);
        line(pen, left - 3, y, left, y);
      });
    }
    pen.fillStyle = this.colors.ink;
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(this.nameOf(this.pair[0], pen, width - left - right), (left + width - right) / 2, height - 4);
    if (this.pair[1] < 0) return;
    pen.save();
    pen.translate(9, (top + height - bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "middle";
    pen.fillText(this.nameOf(this.pair[1], pen, height - top - bottom), 0, 0);
    pen.restore();
  }

  // The name of a component, in short where there is no room for more.
  nameOf(k, pen, room) {
    const share = percent(this.components.ratio[k]), name = `component ${k + 1} (${share} of the ${this.components.whole})`;
    return pen.measureText(name).width <= room ? name : `component ${k + 1} (${share})`;
  }

  drawCursor(u, v, chosen) {
    const { pen, width, height } = this.cursor;
    const { left, top, right, bottom } = this.frame;
    const [x, y] = this.toScreen(u, v);
    pen.clearRect(0, 0, width, height);
    if (chosen >= 0) {
      const [p, q] = this.toScreen(this.score(chosen, 0), this.score(chosen, 1));
      pen.strokeStyle = this.colors.ink;
      pen.lineWidth = 2;
      pen.strokeRect(p - 7, q - 7, 14, 14);
    }
    pen.strokeStyle = this.colors.mark;
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1;
    line(pen, left, y, width - right, y);
    line(pen, x, top, x, height - bottom);
    pen.globalAlpha = 1;
    for (const [color, thick] of [[this.colors.halo, 6], [this.colors.mark, 3]]) {
      pen.beginPath();
      pen.arc(x, y, 9, 0, 2 * Math.PI);
      pen.strokeStyle = color;
      pen.lineWidth = thick;
      pen.stroke();
    }
  }

  // A field as light, which `light` makes of its values, and the line where these have a level.
  drawShade(field, light, level) {
    const { pen, width, height } = this.shade;
    const { left, top, right, bottom } = this.frame, { dim, lit } = this.colors;
    const w = width - left - right, h = height - top - bottom;
    pen.clearRect(0, 0, width, height);
    const { values, cells, stride, side } = field;
    if (!cells) return;
    const small = document.createElement("canvas");
    small.width = small.height = cells + 1;
    const brush = small.getContext("2d"), pixels = brush.createImageData(cells + 1, cells + 1);
    const at = (i, j) => values[j * stride * side + i * stride];
    for (let j = 0; j <= cells; j += 1) {
      for (let i = 0; i <= cells; i += 1) {
        const [r, g, b] = mixed(dim, lit, light(at(i, j)));
        pixels.data.set([r, g, b, 255], 4 * (j * (cells + 1) + i));
      }
    }
    brush.putImageData(pixels, 0, 0);
    pen.save();
    pen.beginPath();
    pen.rect(left, top, w, h);
    pen.clip();
    pen.imageSmoothingEnabled = true;
    pen.imageSmoothingQuality = "high";
    pen.drawImage(small, left - w / cells / 2, top - h / cells / 2, w + w / cells, h + h / cells);
    pen.strokeStyle = this.colors.quiet;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (let j = 0; j < cells; j += 1) {
      for (let i = 0; i < cells; i += 1) {
        const ends = crossings(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1), level);
        for (let e = 0; e + 1 < ends.length; e += 2) {
          pen.moveTo(left + (w * (i + ends[e][0])) / cells, top + (h * (j + ends[e][1])) / cells);
          pen.lineTo(left + (w * (i + ends[e + 1][0])) / cells, top + (h * (j + ends[e + 1][1])) / cells);
        }
      }
    }
    pen.stroke();
    pen.restore();
  }
}

function line(pen, x, y, p, q) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(p, q);
  pen.stroke();
}

function percent(part) {
  const number = 100 * part;
  return `${number >= 10 ? number.toFixed(0) : Number(number.toPrecision(2))} %`;
}

// Where a level crosses the edges of a cell with these corners, clockwise from the upper left.
function crossings(a, b, c, d, level) {
  const ends = [];
  const between = (p, q) => (level - p) / (q - p);
  if (a < level !== b < level) ends.push([between(a, b), 0]);
  if (b < level !== c < level) ends.push([1, between(b, c)]);
  if (d < level !== c < level) ends.push([between(d, c), 1]);
  if (a < level !== d < level) ends.push([0, between(a, d)]);
  return ends;
}
