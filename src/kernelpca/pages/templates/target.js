// The point of feature space that scores stand for: a combination of features, its length, and the samples near it.

// Scores as a combination of features: c = mean_weights + W (signs z).
class Expansion {
  constructor(spec, arrays) {
    this.W = arrays[spec.W];
    this.mean = arrays[spec.mean_weights].data;
    this.signs = Float64Array.from(spec.signs);
    this.signed = new Float64Array(this.signs.length);
    this.coefficients = new Float64Array(this.W.rows);
  }

  at(z) {
    for (let k = 0; k < z.length; k += 1) this.signed[k] = this.signs[k] * z[k];
    const c = timesRows(this.W, this.signed, this.coefficients);
    for (let i = 0; i < c.length; i += 1) c[i] += this.mean[i];
    return c;
  }
}

const NEIGHBORS = 10; // samples whose mean is a start

class Target {
  constructor(spec, arrays) {
    this.spec = spec;
    this.expansion = new Expansion(spec, arrays);
    this.scores = spec.scores ? arrays[spec.scores] : null;
    this.distances = new Float64Array(this.scores ? this.scores.rows : 0);
    this.signed = new Float64Array(spec.signs.length);
  }

  // |p|^2.
  squaredNorm(z) {
    const { signs, b, mean_square: ofMean } = this.spec;
    let sum = ofMean;
    for (let k = 0; k < z.length; k += 1) sum += signs[k] * z[k] * (z[k] - 2 * b[k]);
    return sum;
  }

  // The samples nearest to p, nearest first.
  nearest(z, count) {
    const { spec, distances } = this;
    let square = 0;
    for (let k = 0; k < z.length; k += 1) {
      this.signed[k] = spec.signs[k] * z[k];
      square += this.signed[k] * z[k];
    }
    timesRows(this.scores, this.signed, distances);
    for (let i = 0; i < distances.length; i += 1) {
      distances[i] = square + spec.lengths[i] - 2 * distances[i];
      if (spec.definite && distances[i] < 0) distances[i] = 0;
    }
    return smallest(distances, count);
  }
}

// The places of the smallest numbers, smallest first.
function smallest(numbers, count) {
  const places = [];
  for (let i = 0; i < numbers.length; i += 1) {
    if (places.length === count && numbers[i] >= numbers[places[count - 1]]) continue;
    let at = places.length;
    while (at > 0 && numbers[places[at - 1]] > numbers[i]) at -= 1;
    places.splice(at, 0, i);
    if (places.length > count) places.pop();
  }
  return places;
}
