// Pre-images by descent, as kernelpca.preimage.Gradient finds them: |phi(x) - p|^2 is minimized from the best start.

// Points and gradients as rows of numbers, within bounds if there are some.
class RowVectors {
  constructor(table, bounds) {
    this.table = table;
    this.size = table.columns;
    this.bounds = bounds;
  }

  sample(i, out) {
    out.set(this.table.data.subarray(i * this.size, (i + 1) * this.size));
  }

  dot(x, y) {
    return dot(x, y);
  }

  products(x, out) {
    return timesRows(this.table, x, out);
  }

  combine(weights, out) {
    combineRows(this.table, weights, out);
  }

  clip(x) {
    if (!this.bounds) return;
    const { low, high } = this.bounds;
    for (let j = 0; j < x.length; j += 1) x[j] = Math.min(Math.max(x[j], low[j]), high[j]);
  }

  // 1 for variables that may move, 0 for those that their slope pushes against a bound.
  markFree(x, g, free) {
    const { low, high } = this.bounds;
    for (let j = 0; j < x.length; j += 1) free[j] = (x[j] <= low[j] && g[j] > 0) || (x[j] >= high[j] && g[j] < 0) ? 0 : 1;
  }

  leave(x, out) {
    out.set(x);
  }
}

// The same as combinations of the rows, where these are long: first the weights, then the dot products with all rows.
// Both halves of a sum are sums of halves, so that a step costs no product at all and a gradient one with the dot products.
class MixtureVectors {
  constructor(table) {
    this.table = table;
    this.count = table.rows;
    this.size = 2 * table.rows;
    this.bounds = null;
    this.dots = table.dots ??= dotProducts(table);
  }

  sample(i, out) {
    const { count, dots } = this;
    out.fill(0);
    out[i] = 1;
    out.set(dots.data.subarray(i * count, (i + 1) * count), count);
  }

  dot(x, y) {
    const { count } = this;
    let sum = 0;
    for (let i = 0; i < count; i += 1) sum += x[i] * y[count + i];
    return sum;
  }

  products(x) {
    return x.subarray(this.count);
  }

  combine(weights, out) {
    out.set(weights);
    timesRows(this.dots, weights, out.subarray(this.count));
  }

  clip() {}

  leave(x, out) {
    combineRows(this.table, x.subarray(0, this.count), out);
  }
}

// |phi(x) - p|^2, and its gradient where that is asked for, with p = sum of c_i k(x_i, .).
class KernelDistance {
  constructor(spec, arrays, bounds) {
    const table = arrays[spec.anchors];
    this.mixes = isLong(table) && !bounds;
    this.vectors = this.mixes ? new MixtureVectors(table) : new RowVectors(table, bounds);
    this.kernel = kernelOf(spec.kernel, spec.eps);
    this.toward = slopeOf(spec.kernel, spec.eps);
    this.along = spec.radial ? null : alongOf(spec.kernel, spec.eps);
    this.lengths = squaredLengths(table);
    this.held = new Float64Array(table.rows);
    this.weights = new Float64Array(table.rows);
  }

  at(x, gradient, c, square) {
    const { vectors, kernel, toward, along, lengths, weights } = this;
    const xx = vectors.dot(x, x), products = vectors.products(x, this.held);
    let sum = 0, own = 0;
    for (let i = 0; i < c.length; i += 1) {
      const yy = lengths[i], xy = products[i];
      sum += c[i] * kernel(xx, yy, xy);
      weights[i] = -2 * c[i] * toward(xx, yy, xy);
      own -= along ? 2 * c[i] * along(xx, yy, xy) : weights[i];
    }
    if (gradient) {
      if (along) own += 2 * (toward(xx, xx, xx) + along(xx, xx, xx)); // k(x, x) changes too
      vectors.combine(weights, gradient);
      add(gradient, own, x);
    }
    return kernel(xx, xx, xx) - 2 * sum + square;
  }

  squaredNorm(x) {
    const xx = this.vectors.dot(x, x);
    return this.kernel(xx, xx, xx);
  }
}

// The same for random features.
class FeatureDistance {
  constructor(spec, arrays, bounds) {
    this.features = new RandomFeatures({ ...spec, origin: null }, arrays); // x is local here
    this.vectors = new RowVectors(spec.rows ? arrays[spec.rows] : this.features.frequencies, bounds);
    this.slopes = new Float64Array(this.features.frequencies.rows);
  }

  at(x, gradient, c, square) {
    const { features, slopes } = this, { form, amplitude } = features.spec, count = slopes.length;
    const values = features.at(x);
    let sum = 0, own = 0;
    for (let i = 0; i < values.length; i += 1) {
      sum += c[i] * values[i];
      own += values[i] * values[i];
    }
    for (let i = 0; gradient && i < count; i += 1) {
      const value = values[i], off = value - c[i];
      if (form === "paired") slopes[i] = 2 * (c[i] * values[count + i] - c[count + i] * value);
      else slopes[i] = 2 * off * features.rate(i, value);
    }
    if (form === "paired") own = amplitude * amplitude * count;
    if (gradient) combineRows(features.frequencies, slopes, gradient);
    return own - 2 * sum + square;
  }

  squaredNorm(x) {
    return squaredLength(this.features.at(x));
  }
}

class GradientWay {
  constructor(spec, arrays) {
    this.spec = spec;
    this.origin = spec.origin ? arrays[spec.origin].data : null;
    const shift = (limits) => limits.map((limit, j) => limit - (this.origin ? this.origin[j] : 0));
    const bounds = spec.low ? { low: shift(spec.low), high: shift(spec.high) } : null;
    this.target = new Target(spec, arrays);
    this.distance = spec.kernel ? new KernelDistance(spec, arrays, bounds) : new FeatureDistance(spec, arrays, bounds);
    this.mixes = Boolean(this.distance.mixes);
    this.table = spec.kernel ? arrays[spec.anchors] : null;
    this.rough = spec.scores ? null : new InvertibleWay({ ...spec, branch: "reflected", origin: null, rows: null }, arrays);
    const { vectors } = this.distance;
    const evaluate = (x, gradient) => this.distance.at(x, gradient, this.target.expansion.coefficients, this.square);
    this.descent = new Minimizer(vectors, evaluate, spec);
    [this.nearest, this.middle, this.spare] = Array.from({ length: 3 }, () => new Float64Array(vectors.size));
  }

  // Go to the start for scores z.
  begin(z) {
    const { target, distance } = this;
    target.expansion.at(z);
    this.square = target.squaredNorm(z);
    const start = this.rough ? this.roughStart(z) : this.bestSample(z);
    const { eps, spread } = this.spec, floor = 4 * eps * (Math.abs(this.square) + distance.squaredNorm(start) + 2 * spread);
    this.descent.begin(start, floor);
  }

  // Go on, for some milliseconds; true when the answer is found.
  advance(milliseconds) {
    const until = performance.now() + milliseconds;
    while (!this.descent.done && !this.descent.step()) if (performance.now() >= until) return false;
    return this.descent.done;
  }

  // What is found by now, less the origin.
  get mixture() {
    const { x } = this.descent;
    return this.mixes ? x.subarray(0, this.table.rows) : x;
  }

  leave(x) {
    const { low, high } = this.spec;
    this.distance.vectors.leave(this.descent.x, x);
    if (this.origin) for (let j = 0; j < x.length; j += 1) x[j] += this.origin[j];
    if (low) for (let j = 0; j < x.length; j += 1) x[j] = Math.min(Math.max(x[j], low[j]), high[j]); // of rounding
  }

  into(z, x) {
    this.begin(z);
    this.advance(Infinity);
    this.leave(x);
  }

  roughStart(z) {
    this.rough.into(z, this.nearest);
    this.distance.vectors.clip(this.nearest);
    return this.nearest;
  }

  // The better of the nearest sample and the mean of the ten nearest.
  bestSample(z) {
    const { distance, target, nearest, middle, spare } = this, { vectors } = distance;
    const near = target.nearest(z, NEIGHBORS);
    vectors.sample(near[0], nearest);
    middle.fill(0);
    for (const i of near) {
      vectors.sample(i, spare);
      add(middle, 1, spare);
    }
    for (let j = 0; j < middle.length; j += 1) middle[j] /= near.length;
    vectors.clip(nearest);
    vectors.clip(middle);
    const { coefficients } = target.expansion;
    const first = distance.at(nearest, null, coefficients, this.square);
    return distance.at(middle, null, coefficients, this.square) < first ? middle : nearest;
  }
}
