// The fixed point of Mika et al., step for step as kernelpca.preimage.FixedPoint takes them.
const SHORTEST = 2 ** -6; // of a step

class FixedPointWay {
  constructor(spec, arrays) {
    this.spec = spec;
    this.table = arrays[spec.anchors];
    this.origin = spec.origin ? arrays[spec.origin].data : null;
    this.target = new Target(spec, arrays);
    this.kernel = kernelOf(spec.kernel, spec.eps);
    this.slope = slopeOf(spec.kernel, spec.eps);
    this.lengths = squaredLengths(this.table);
    const { rows } = this.table;
    this.mixes = isLong(this.table) && !spec.low;
    this.points = this.mixes ? new WeightPoints(this.table) : new RowPoints(this.table);
    this.products = new Float64Array(rows);
    this.weights = new Float64Array(rows);
    [this.x, this.best, this.from, this.goal, this.next] = Array.from({ length: 5 }, () => new Float64Array(this.points.size));
  }

  into(z, x) {
    this.points.leave(this.mix(z), x);
    if (this.origin) for (let j = 0; j < x.length; j += 1) x[j] += this.origin[j];
  }

  // The answer, less the origin; as weights of the model's rows where points are such.
  mix(z) {
    const { spec } = this;
    const near = this.target.nearest(z, Math.max(NEIGHBORS, spec.max_restarts));
    const c = this.target.expansion.at(z);
    const length = this.target.squaredNorm(z);
    this.start(near);
    let rho = Infinity, here = Infinity, step = 1, tries = 0;
    this.iterations = 0;
    for (let round = 0; round < spec.max_iter; round += 1) {
      const pulled = this.pull(c, length);
      this.iterations += 1;
      if (pulled.rho < rho) {
        rho = pulled.rho;
        this.best.set(this.x);
      }
      const gained = here - pulled.rho;
      const small = Math.abs(gained) <= spec.tol * Math.abs(pulled.rho) && this.isNear(this.next, pulled.xx);
      const lost = pulled.lost && !small;
      const worse = gained < 0 && !small && !lost;
      if (small) break;
      if (worse) {
        step /= 2;
        if (step < SHORTEST) break;
        for (let i = 0; i < this.x.length; i += 1) this.x[i] = this.from[i] + step * (this.goal[i] - this.from[i]);
      } else if (lost) {
        if (tries >= spec.max_restarts) break;
        this.points.sample(near[Math.min(tries, near.length - 1)], this.x);
        this.clip(this.x);
        here = Infinity;
        step = 1;
        tries += 1;
      } else {
        this.from.set(this.x);
        here = pulled.rho;
        step = 1;
        this.clip(this.next);
        this.goal.set(this.next);
        this.x.set(this.goal);
      }
    }
    this.mixture = this.best;
    return this.best;
  }

  start(near) {
    const { points, x, next } = this;
    const count = this.spec.start === "nearest" ? 1 : Math.min(NEIGHBORS, near.length);
    x.fill(0);
    for (let n = 0; n < count; n += 1) {
      points.sample(near[n], next);
      for (let i = 0; i < x.length; i += 1) x[i] += next[i] / count;
    }
    this.clip(x);
  }

  // Squared distance of x from the point, and into `next` the mean of the samples with their weights there.
  pull(c, length) {
    const { points, products, weights, lengths, kernel, slope } = this;
    const xx = points.products(this.x, products);
    let sum = 0, total = 0, squares = 0;
    for (let i = 0; i < c.length; i += 1) {
      sum += c[i] * kernel(xx, lengths[i], products[i]);
      const weight = c[i] * slope(xx, lengths[i], products[i]);
      weights[i] = weight;
      total += weight;
      squares += weight * weight;
    }
    const lost = total <= Math.sqrt(this.spec.eps * squares);
    const scale = lost ? 1 : 1 / total;
    for (let i = 0; i < weights.length; i += 1) weights[i] *= scale;
    points.combine(weights, this.next);
    return { rho: kernel(xx, xx, xx) - 2 * sum + length, xx, lost };
  }

  // Whether the next step would move the point by no more than sqrt(tol) of its length.
  isNear(next, xx) {
    const { length, off } = this.points.compare(next, this.x, xx);
    return off <= this.spec.tol * Math.max(length, xx);
  }

  clip(x) {
    const { low, high } = this.spec;
    if (!low) return;
    for (let j = 0; j < x.length; j += 1) {
      const origin = this.origin ? this.origin[j] : 0;
      x[j] = Math.min(Math.max(x[j], low[j] - origin), high[j] - origin);
    }
  }
}
