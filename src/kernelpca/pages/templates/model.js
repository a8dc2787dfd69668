// A model in the page (written by kernelpca.pages.export): scores in, an input and its reliability out.

// One step from inputs to scores: features times W, plus b.
class Stage {
  constructor(spec, arrays) {
    this.b = spec.b;
    this.origin = spec.origin ? arrays[spec.origin].data : null;
    this.out = new Float64Array(this.b.length);
    if (spec.kind === "linear") this.axes = arrays[spec.axes];
    else this.W = arrays[spec.W];
    if (spec.kind === "features") this.features = new RandomFeatures(spec, arrays);
    if (spec.kind === "kernel") this.values = new KernelValues(spec.kernel, arrays[spec.anchors]);
  }

  at(x) {
    if (this.features) return this.plus(combineRows(this.W, this.features.at(x), this.out));
    this.local ??= new Float64Array(x.length);
    for (let j = 0; j < x.length; j += 1) this.local[j] = x[j] - (this.origin ? this.origin[j] : 0);
    if (this.axes) return this.plus(timesRows(this.axes, this.local, this.out));
    return this.plus(combineRows(this.W, this.values.at(this.local), this.out));
  }

  // Scores of a combination of the model's rows, from its weights alone.
  ofMixture(weights) {
    this.points ??= new WeightPoints(this.values.table);
    const square = this.points.products(weights, this.values.products);
    return this.plus(combineRows(this.W, this.values.from(square, this.values.products), this.out));
  }

  plus(out) {
    for (let k = 0; k < out.length; k += 1) out[k] += this.b[k];
    return out;
  }
}

class Model {
  constructor({ way, forth, spread }, arrays, width) {
    this.way = wayOf(way, arrays);
    this.stages = forth ? forth.map((stage) => new Stage(stage, arrays)) : null;
    this.spread = Math.max(spread, Number.MIN_VALUE);
    this.point = new Float64Array(width);
    const [first] = this.stages ?? [];
    this.mixes = Boolean(this.way.mixes && first?.values?.table === this.way.table && !first.values.far);
  }

  // What is found for scores z within so many milliseconds: an input (valid until the next call), how reliable it is, and
  // whether it is the answer or only on the way there. Asked again for the same scores, it goes on.
  answer(z, milliseconds = Infinity) {
    const done = this.seek(z, milliseconds);
    this.fill(z);
    if (!this.stages) return { point: this.point, reliability: null, done };
    const own = this.mixes ? this.stages[0].ofMixture(this.way.mixture) : this.scores(this.point);
    return { point: this.point, reliability: this.compare(own, z), done };
  }

  // How reliable the answer is, or null while it is not found; where it is a combination of the model's rows, without
  // making it.
  judge(z, milliseconds = Infinity) {
    if (!this.seek(z, milliseconds)) return null;
    if (this.mixes) return this.compare(this.stages[0].ofMixture(this.way.begin ? this.way.mixture : this.way.mix(z)), z);
    this.fill(z);
    return this.compare(this.scores(this.point), z);
  }

  // Work on scores z, where that takes many steps; true when nothing is left to do.
  seek(z, milliseconds) {
    if (!this.way.begin) return true;
    if (!this.asked || !this.asked.every((value, k) => value === z[k])) {
      this.asked = Float64Array.from(z);
      this.way.begin(this.asked);
    }
    return this.way.advance(milliseconds);
  }

  fill(z) {
    if (this.way.begin) this.way.leave(this.point);
    else this.way.into(z, this.point);
  }

  scores(x) {
    return this.stages.reduce((rows, stage) => stage.at(rows), x);
  }

  // 1 / (1 + q), q the squared difference between scores and those asked for, over the usual squared length.
  compare(own, z) {
    let off = 0;
    for (let k = 0; k < z.length; k += 1) off += (own[k] - z[k]) * (own[k] - z[k]);
    return 1 / (1 + off / this.spread);
  }
}
