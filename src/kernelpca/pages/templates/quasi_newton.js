// Limited-memory BFGS with bounds, step for step as kernelpca.preimage.quasi_newton takes them, for one point. It can be
// left after any step and taken up again, so that a picture can follow it.
const PAIRS = 16; // curvature pairs that are remembered
const DESCENT = 1e-4; // of the decrease that the slope promises, which a step must reach
const HALVINGS = 25; // of a step before it counts as too small to matter
const CURVED = 1e-10; // least cosine between step and change of slope for the pair to be used
const TRIAL = 1e-3; // of a point's size: the first step, which shows the scale
const LONGER = 2; // times that, and times again: steps after those that showed no positive curvature
const LONGEST = 1 / TRIAL; // times in all, which makes the first step as long as the point
const STUCK = 2; // searches that fail: with what is known of the curvature, and with the plain gradient
const TINY = 2.2250738585072014e-308; // the least number with all its digits
const QUIET = 2; // steps in a row that hardly decrease the value, after which a point is done

class Minimizer {
  // `vectors` has a size, dot(x, y) and clip(x); `evaluate(x, gradient)` returns the value and fills in the gradient.
  constructor(vectors, evaluate, { tol, max_iter: most }) {
    Object.assign(this, { vectors, evaluate, tol, most });
    const blank = () => new Float64Array(vectors.size);
    [this.x, this.g, this.slope, this.p, this.tried, this.triedSlope] = Array.from({ length: 6 }, blank);
    this.spare = Array.from({ length: PAIRS + 1 }, () => ({ s: blank(), y: blank(), masked: blank(), alpha: 0, rho: 0, kept: false }));
    this.pairs = [];
    this.free = vectors.bounds ? blank() : null;
    this.done = true;
  }

  begin(start, floor) {
    Object.assign(this, { floor, quiet: 0, stuck: 0, stretch: 1, iterations: 0, done: false });
    this.spare.push(...this.pairs.splice(0));
    this.x.set(start);
    this.size = this.length(start) || 1; // the greatest length that the point has had
    this.f = this.evaluate(this.x, this.g);
  }

  length(v) {
    return Math.sqrt(Math.max(this.vectors.dot(v, v), 0));
  }

  // One step; true when no more are needed.
  step() {
    const { x, g, slope, p, vectors, free } = this;
    if (free) vectors.markFree(x, g, free);
    for (let i = 0; i < slope.length; i += 1) slope[i] = free ? g[i] * free[i] : g[i];
    this.size = Math.max(this.size, this.length(x));
    const steep = this.length(slope);
    const finished = this.quiet >= QUIET || this.stuck >= STUCK || this.size * steep <= this.floor;
    if (finished || this.iterations >= this.most) {
      this.done = true;
      return true;
    }
    this.iterations += 1;
    let unknown = !this.aim();
    if (vectors.dot(p, slope) >= 0) {
      this.forget();
      unknown = !this.aim();
    }
    const factor = this.stretch * (unknown ? (TRIAL * this.size) / Math.max(steep, TINY) : 1);
    if (factor !== 1) for (let i = 0; i < p.length; i += 1) p[i] *= factor;
    const value = this.search();
    const failed = value === null || !this.remember();
    if (failed) this.forget();
    const small = !failed && this.f - value <= Math.max(this.tol * Math.abs(value), this.floor);
    this.stuck = failed ? this.stuck + 1 + Number(unknown) : 0;
    this.quiet = small && (!unknown || this.stretch >= LONGEST) ? this.quiet + 1 : 0;
    this.stretch = failed || this.pairs.at(-1).kept ? 1 : Math.min(LONGER * this.stretch, LONGEST);
    if (!failed) {
      this.f = value;
      [this.x, this.tried] = [this.tried, this.x];
      [this.g, this.triedSlope] = [this.triedSlope, this.g];
    }
    return false;
  }

  // p = -H slope, with H the inverse Hessian that the pairs tell, on the variables that may move; true where they tell it.
  aim() {
    const { p, slope, pairs, free, vectors } = this;
    for (let i = 0; i < p.length; i += 1) p[i] = -slope[i];
    let scale = 0;
    for (let n = pairs.length - 1; n >= 0; n -= 1) {
      const pair = pairs[n];
      if (!pair.kept) continue;
      if (free) for (let i = 0; i < p.length; i += 1) pair.masked[i] = pair.y[i] * free[i];
      const y = free ? pair.masked : pair.y, sy = vectors.dot(pair.s, y), yy = vectors.dot(y, y);
      pair.rho = sy > TINY ? 1 / sy : 0;
      if (scale === 0 && sy > 0 && yy > 0) scale = sy / yy; // the latest pair that counts tells the scale
      pair.alpha = pair.rho * vectors.dot(pair.s, p);
      add(p, -pair.alpha, y);
    }
    if (scale > 0) for (let i = 0; i < p.length; i += 1) p[i] *= scale;
    for (const pair of pairs) {
      if (!pair.kept) continue;
      const beta = pair.rho * vectors.dot(free ? pair.masked : pair.y, p);
      add(p, pair.alpha - beta, pair.s);
    }
    if (free) for (let i = 0; i < p.length; i += 1) p[i] *= free[i];
    return scale > 0;
  }

  // Halve the step until it decreases the value enough; null where no step does.
  search() {
    const { x, g, p, tried, triedSlope, vectors } = this;
    const along = vectors.bounds ? 0 : vectors.dot(g, p);
    let t = 1;
    for (let n = 0; n < HALVINGS; n += 1) {
      for (let i = 0; i < x.length; i += 1) tried[i] = x[i] + t * p[i];
      let promised = t * along;
      if (vectors.bounds) {
        vectors.clip(tried);
        promised = 0;
        for (let i = 0; i < x.length; i += 1) promised += g[i] * (tried[i] - x[i]);
      }
      const value = this.evaluate(tried, triedSlope);
      if (Number.isFinite(value) && value <= this.f + DESCENT * Math.min(promised, 0)) return value;
      t *= 0.5;
    }
    return null;
  }

  // Keep the step and the change of slope, if they tell a curvature; false where nothing has moved.
  remember() {
    const { x, g, tried, triedSlope, vectors } = this;
    const pair = this.spare.pop();
    let moved = false;
    for (let i = 0; i < x.length; i += 1) {
      pair.s[i] = tried[i] - x[i];
      pair.y[i] = triedSlope[i] - g[i];
      moved ||= pair.s[i] !== 0;
    }
    pair.kept = vectors.dot(pair.s, pair.y) > CURVED * this.length(pair.s) * this.length(pair.y);
    this.pairs.push(pair);
    if (this.pairs.length > PAIRS) this.spare.push(this.pairs.shift());
    return moved;
  }

  forget() {
    for (const pair of this.pairs) pair.kept = false;
  }
}

function add(x, factor, y) {
  for (let i = 0; i < x.length; i += 1) x[i] += factor * y[i];
}
