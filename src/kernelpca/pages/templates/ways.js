// Ways back from scores to inputs, as kernelpca.pages.export writes them down: each has into(z, x).

// The linear kernel: x = center + sum of z_k axis_k.
class LinearWay {
  constructor(spec, arrays) {
    this.axes = arrays[spec.axes];
    this.center = arrays[spec.center].data;
    this.signs = spec.signs;
    this.signed = new Float64Array(spec.signs.length);
  }

  into(z, x) {
    for (let k = 0; k < z.length; k += 1) this.signed[k] = this.signs[k] * z[k];
    combineRows(this.axes, this.signed, x);
    for (let j = 0; j < x.length; j += 1) x[j] += this.center[j];
  }
}

// Kernel ridge regression from scores to inputs: kernel values times coefficients, or times weights of the model's rows.
class RidgeWay {
  constructor(spec, arrays) {
    this.values = new KernelValues(spec.kernel, arrays[spec.centers]);
    if (spec.weights) {
      this.weights = arrays[spec.weights];
      this.base = spec.base;
      this.table = arrays[spec.anchors];
      this.origin = spec.origin ? arrays[spec.origin].data : null;
      this.shares = new Float64Array(this.weights.columns);
      this.mixes = !spec.low && isLong(this.table) && (this.base > 0 || !this.origin);
    } else {
      this.coefficients = arrays[spec.coefficients];
      this.mean = arrays[spec.mean].data;
    }
  }

  into(z, x) {
    if (this.weights) {
      const shares = this.mix(z);
      const total = this.base ? 1 : shares.reduce((sum, share) => sum + share, 0);
      combineRows(this.table, shares, x);
      if (this.origin) for (let j = 0; j < x.length; j += 1) x[j] += total * this.origin[j];
      return;
    }
    combineRows(this.coefficients, this.values.at(z), x);
    for (let j = 0; j < x.length; j += 1) x[j] += this.mean[j];
  }

  // Weights of the model's rows.
  mix(z) {
    const shares = combineRows(this.weights, this.values.at(z), this.shares);
    for (let i = 0; i < shares.length; i += 1) shares[i] += this.base;
    this.mixture = shares;
    return shares;
  }
}

function nearestRow(table, z) {
  const { data, rows, columns } = table;
  let best = 0, least = Infinity;
  for (let i = 0; i < rows; i += 1) {
    let sum = 0;
    for (let k = 0; k < columns && sum < least; k += 1) {
      const off = data[i * columns + k] - z[k];
      sum += off * off;
    }
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  return { place: best, square: least };
}

// Random features: amplitude times cosines, sines or rectified values of W (x - origin) + b.
class RandomFeatures {
  constructor(spec, arrays) {
    this.spec = spec;
    this.frequencies = arrays[spec.frequencies];
    this.origin = spec.origin ? arrays[spec.origin].data : null;
    this.local = new Float64Array(this.frequencies.columns);
    this.phases = new Float64Array(this.frequencies.rows);
    this.values = new Float64Array(this.frequencies.rows * (spec.form === "paired" ? 2 : 1));
  }

  at(x) {
    for (let j = 0; j < x.length; j += 1) this.local[j] = x[j] - (this.origin ? this.origin[j] : 0);
    const { form, amplitude, phases: b } = this.spec;
    const phases = timesRows(this.frequencies, this.local, this.phases), count = phases.length;
    for (let i = 0; i < count; i += 1) {
      const phase = phases[i] + (b ? b[i] : 0);
      if (form === "relu") this.values[i] = amplitude * Math.max(phase, 0);
      else this.values[i] = amplitude * (form === "sin" ? Math.sin(phase) : Math.cos(phase));
      if (form === "paired") this.values[count + i] = amplitude * Math.sin(phase);
    }
    return this.values;
  }

  // How fast feature i changes with its phase, after `at`.
  rate(i, value) {
    const { form, amplitude, phases: b } = this.spec;
    if (form === "relu") return value > 0 ? amplitude : 0;
    const phase = this.phases[i] + (b ? b[i] : 0);
    return amplitude * (form === "sin" ? Math.cos(phase) : -Math.sin(phase));
  }
}

// Random features inverted step by step, as kernelpca.preimage.Invertible does; the branch is that of the nearest sample.
class InvertibleWay {
  constructor(spec, arrays) {
    this.spec = spec;
    this.expansion = new Expansion(spec, arrays);
    this.frequencies = arrays[spec.frequencies];
    this.back = arrays[spec.back];
    this.origin = spec.origin ? arrays[spec.origin].data : null;
    this.rows = spec.rows ? arrays[spec.rows] : null;
    this.scores = spec.rows ? arrays[spec.scores] : null;
    this.phases = new Float64Array(this.frequencies.rows);
    this.undone = new Float64Array(this.frequencies.rows);
    this.reference = -1;
  }

  into(z, x) {
    const { form, amplitude, branch, phases: b } = this.spec;
    this.refer(z);
    const c = this.expansion.at(z), count = this.undone.length;
    for (let i = 0; i < count; i += 1) {
      const value = c[i] / amplitude, phase = this.phases[i] + (b ? b[i] : 0);
      if (form === "relu") this.undone[i] = Math.max(value, 0) + Math.min(phase, 0);
      else if (form === "paired") this.undone[i] = undoPair(value, c[count + i] / amplitude, phase);
      else if (form === "sin") this.undone[i] = undoSine(value, phase, branch) - b[i];
      else this.undone[i] = Math.PI / 2 - undoSine(value, Math.PI / 2 - phase, branch) - b[i];
    }
    combineRows(this.back, this.undone, x);
    if (this.origin) for (let j = 0; j < x.length; j += 1) x[j] += this.origin[j];
  }

  // The phases of the training row whose scores are nearest.
  refer(z) {
    if (!this.rows) return;
    const { place } = nearestRow(this.scores, z);
    if (place === this.reference) return;
    this.reference = place;
    const { data, columns } = this.rows;
    timesRows(this.frequencies, data.subarray(place * columns, (place + 1) * columns), this.phases);
  }
}

function undoSine(value, phase, branch) {
  const angle = Math.asin(Math.min(Math.max(value, -1), 1));
  if (branch === "added") return angle + phase - Math.asin(Math.sin(phase));
  const turn = Math.round(phase / Math.PI);
  return (turn % 2 ? -angle : angle) + turn * Math.PI;
}

function undoPair(cosine, sine, phase) {
  const turn = Math.atan2(sine, cosine) - phase;
  return turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI)) + phase;
}

// Layers one after the other, last to first.
class ChainWay {
  constructor(spec, arrays) {
    this.ways = spec.ways.map((way) => wayOf(way, arrays));
    this.between = this.ways.slice(0, -1).map((way) => new Float64Array(way.width));
  }

  into(z, x) {
    this.ways.forEach((way, i) => way.into(i ? this.between[i - 1] : z, this.between[i] ?? x));
  }
}

const WAYS = { linear: LinearWay, ridge: RidgeWay, fixed_point: FixedPointWay, gradient: GradientWay, invertible: InvertibleWay, chain: ChainWay };

function wayOf(spec, arrays) {
  const way = new WAYS[spec.kind](spec, arrays);
  const { low, high } = spec;
  const into = way.into.bind(way);
  if (low) {
    way.into = (z, x) => {
      into(z, x);
      for (let j = 0; j < x.length; j += 1) x[j] = Math.min(Math.max(x[j], low[j]), high[j]);
    };
  }
  way.width = spec.back ? arrays[spec.back].columns : 0; // a layer's input, where layers are chained
  return way;
}

