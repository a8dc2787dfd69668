// Kernels as functions of |x|^2, |y|^2 and x'y (and of the Manhattan distance, for the one that needs it).
// They are described by kernelpca.pages.kernel_terms. `eps` is the rounding of the model's own numbers.
const FORGIVEN = 8; // eps of the squared lengths, where a square root follows

function squaredDistance(xx, yy, xy, keep = 1) {
  return Math.max(keep * (xx + yy) - 2 * xy, 0);
}

function matern(nu, z) {
  if (nu === 0.5) return Math.exp(-z);
  return (nu === 1.5 ? 1 + z : 1 + z + (z * z) / 3) * Math.exp(-z);
}

function cosineOf(xx, yy, xy) {
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}

function angleOf(xx, yy, xy) {
  return Math.acos(Math.min(Math.max(cosineOf(xx, yy, xy), -1), 1));
}

const KERNELS = {
  linear: () => (xx, yy, xy) => xy,
  polynomial: ({ degree, gamma, coef0 }) => (xx, yy, xy) => (gamma * xy + coef0) ** degree,
  sigmoid: ({ gamma, coef0 }) => (xx, yy, xy) => Math.tanh(gamma * xy + coef0),
  cosine: () => cosineOf,
  arc_cosine: ({ order }) => (xx, yy, xy) => {
    const angle = angleOf(xx, yy, xy);
    if (order === 0) return 1 - angle / Math.PI;
    return (Math.sqrt(xx * yy) * (Math.sin(angle) + (Math.PI - angle) * Math.cos(angle))) / Math.PI;
  },
  rbf: ({ gamma }) => (xx, yy, xy) => Math.exp(-gamma * squaredDistance(xx, yy, xy)),
  cauchy: ({ gamma }) => (xx, yy, xy) => 1 / (1 + gamma * squaredDistance(xx, yy, xy)),
  rational_quadratic: ({ alpha, gamma }) => (xx, yy, xy) =>
    Math.exp(-alpha * Math.log1p((gamma * squaredDistance(xx, yy, xy)) / alpha)),
  laplacian: ({ gamma }, eps) => (xx, yy, xy) =>
    Math.exp(-gamma * Math.sqrt(squaredDistance(xx, yy, xy, 1 - FORGIVEN * eps))),
  manhattan: ({ gamma }) => (xx, yy, xy, far) => Math.exp(-gamma * far),
  matern: ({ nu, gamma }, eps) => (xx, yy, xy) =>
    matern(nu, Math.sqrt(4 * nu * gamma * squaredDistance(xx, yy, xy, 1 - FORGIVEN * eps))),
  sum: ({ first, second }, eps) => {
    const f = kernelOf(first, eps), g = kernelOf(second, eps);
    return (xx, yy, xy, far) => f(xx, yy, xy, far) + g(xx, yy, xy, far);
  },
  product: ({ first, second }, eps) => {
    const f = kernelOf(first, eps), g = kernelOf(second, eps);
    return (xx, yy, xy, far) => f(xx, yy, xy, far) * g(xx, yy, xy, far);
  },
  scale: ({ of, factor }, eps) => {
    const f = kernelOf(of, eps);
    return (xx, yy, xy, far) => factor * f(xx, yy, xy, far);
  },
  shift: ({ of, constant }, eps) => {
    const f = kernelOf(of, eps);
    return (xx, yy, xy, far) => f(xx, yy, xy, far) + constant;
  },
  normalized: ({ of }, eps) => {
    const f = kernelOf(of, eps);
    return (xx, yy, xy, far) => {
      const own = f(xx, xx, xx, 0) * f(yy, yy, yy, 0);
      return own > 0 ? f(xx, yy, xy, far) / Math.sqrt(own) : 0;
    };
  },
  kernel_rbf: ({ of, gamma }, eps) => {
    const f = kernelOf(of, eps);
    return (xx, yy, xy, far) => Math.exp(-gamma * (f(xx, xx, xx, 0) + f(yy, yy, yy, 0) - 2 * f(xx, yy, xy, far)));
  },
  less_one: ({ of }, eps) => LESS_ONE[of.name](of, eps),
};

// The same less one, with all digits where values are near one.
const LESS_ONE = {
  rbf: ({ gamma }) => (xx, yy, xy) => Math.expm1(-gamma * squaredDistance(xx, yy, xy)),
  laplacian: ({ gamma }, eps) => (xx, yy, xy) =>
    Math.expm1(-gamma * Math.sqrt(squaredDistance(xx, yy, xy, 1 - FORGIVEN * eps))),
  manhattan: ({ gamma }) => (xx, yy, xy, far) => Math.expm1(-gamma * far),
  cauchy: ({ gamma }) => (xx, yy, xy) => {
    const s = gamma * squaredDistance(xx, yy, xy);
    return -s / (1 + s);
  },
  kernel_rbf: ({ of, gamma }, eps) => {
    const f = kernelOf(of, eps);
    return (xx, yy, xy, far) => Math.expm1(-gamma * (f(xx, xx, xx, 0) + f(yy, yy, yy, 0) - 2 * f(xx, yy, xy, far)));
  },
};

// How much of y is in the gradient of k(x, y) in x; for kernels of the distance, -2 times the derivative by its square.
const SLOPES = {
  linear: () => () => 1,
  polynomial: ({ degree, gamma, coef0 }) => (xx, yy, xy) => degree * gamma * (gamma * xy + coef0) ** (degree - 1),
  sigmoid: ({ gamma, coef0 }) => (xx, yy, xy) => gamma * (1 - Math.tanh(gamma * xy + coef0) ** 2),
  cosine: () => (xx, yy) => (xx > 0 && yy > 0 ? 1 / Math.sqrt(xx * yy) : 0),
  arc_cosine: () => (xx, yy, xy) => 1 - angleOf(xx, yy, xy) / Math.PI,
  rbf: ({ gamma }) => (xx, yy, xy) => 2 * gamma * Math.exp(-gamma * squaredDistance(xx, yy, xy)),
  cauchy: ({ gamma }) => (xx, yy, xy) => (2 * gamma) / (1 + gamma * squaredDistance(xx, yy, xy)) ** 2,
  rational_quadratic: ({ alpha, gamma }) => (xx, yy, xy) => {
    const s = (gamma * squaredDistance(xx, yy, xy)) / alpha;
    return (2 * gamma * Math.exp(-alpha * Math.log1p(s))) / (1 + s);
  },
  laplacian: ({ gamma }, eps) => (xx, yy, xy) => {
    const s = gamma * Math.sqrt(squaredDistance(xx, yy, xy, 1 - FORGIVEN * eps));
    return (gamma * gamma * Math.exp(-s)) / Math.max(s, Math.sqrt(eps));
  },
  matern: ({ nu, gamma }, eps) => (xx, yy, xy) => {
    const z = Math.sqrt(4 * nu * gamma * squaredDistance(xx, yy, xy, 1 - FORGIVEN * eps));
    if (nu === 0.5) return (2 * gamma * Math.exp(-z)) / Math.max(z, Math.sqrt(eps));
    return (2 * gamma * nu * matern(nu - 1, z)) / (nu - 1);
  },
  sum: ({ first, second }, eps) => {
    const f = slopeOf(first, eps), g = slopeOf(second, eps);
    return (xx, yy, xy) => f(xx, yy, xy) + g(xx, yy, xy);
  },
  product: ({ first, second }, eps) => {
    const f = kernelOf(first, eps), g = kernelOf(second, eps);
    const df = slopeOf(first, eps), dg = slopeOf(second, eps);
    return (xx, yy, xy) => df(xx, yy, xy) * g(xx, yy, xy) + f(xx, yy, xy) * dg(xx, yy, xy);
  },
  scale: ({ of, factor }, eps) => {
    const f = slopeOf(of, eps);
    return (xx, yy, xy) => factor * f(xx, yy, xy);
  },
  shift: ({ of }, eps) => slopeOf(of, eps),
  less_one: ({ of }, eps) => slopeOf(of, eps),
  normalized: ({ of }, eps) => {
    const f = kernelOf(of, eps), df = slopeOf(of, eps);
    return (xx, yy, xy) => {
      const own = f(xx, xx, xx) * f(yy, yy, yy);
      return own > 0 ? df(xx, yy, xy) / Math.sqrt(own) : 0;
    };
  },
  kernel_rbf: (term, eps) => {
    const k = kernelOf(term, eps), df = slopeOf(term.of, eps);
    return (xx, yy, xy) => 2 * term.gamma * k(xx, yy, xy) * df(xx, yy, xy);
  },
};

// How much of x is in it; for kernels of the distance as much as of y, with the other sign.
const ALONG = {
  linear: () => () => 0,
  polynomial: () => () => 0,
  sigmoid: () => () => 0,
  cosine: () => (xx, yy, xy) => (xx > 0 ? -cosineOf(xx, yy, xy) / xx : 0),
  arc_cosine: () => (xx, yy, xy) => (xx > 0 ? (Math.sin(angleOf(xx, yy, xy)) * Math.sqrt(yy / xx)) / Math.PI : 0),
  sum: ({ first, second }, eps) => {
    const f = alongOf(first, eps), g = alongOf(second, eps);
    return (xx, yy, xy) => f(xx, yy, xy) + g(xx, yy, xy);
  },
  product: ({ first, second }, eps) => {
    const f = kernelOf(first, eps), g = kernelOf(second, eps);
    const df = alongOf(first, eps), dg = alongOf(second, eps);
    return (xx, yy, xy) => df(xx, yy, xy) * g(xx, yy, xy) + f(xx, yy, xy) * dg(xx, yy, xy);
  },
  scale: ({ of, factor }, eps) => {
    const f = alongOf(of, eps);
    return (xx, yy, xy) => factor * f(xx, yy, xy);
  },
  shift: ({ of }, eps) => alongOf(of, eps),
  less_one: ({ of }, eps) => alongOf(of, eps),
  normalized: ({ of }, eps) => {
    const f = kernelOf(of, eps), toward = slopeOf(of, eps), along = alongOf(of, eps);
    return (xx, yy, xy) => {
      const mine = f(xx, xx, xx), own = mine * f(yy, yy, yy);
      if (!(own > 0)) return 0;
      const rate = (toward(xx, xx, xx) + along(xx, xx, xx)) / mine;
      return (along(xx, yy, xy) - rate * f(xx, yy, xy)) / Math.sqrt(own);
    };
  },
  kernel_rbf: (term, eps) => {
    const k = kernelOf(term, eps), toward = slopeOf(term.of, eps), along = alongOf(term.of, eps);
    return (xx, yy, xy) =>
      2 * term.gamma * k(xx, yy, xy) * (along(xx, yy, xy) - toward(xx, xx, xx) - along(xx, xx, xx));
  },
};

function kernelOf(term, eps = 2 ** -52) {
  return KERNELS[term.name](term, eps);
}

function slopeOf(term, eps) {
  return SLOPES[term.name](term, eps);
}

function alongOf(term, eps) {
  if (ALONG[term.name]) return ALONG[term.name](term, eps);
  const toward = slopeOf(term, eps);
  return (xx, yy, xy) => -toward(xx, yy, xy);
}

function usesManhattan(term) {
  return term.name === "manhattan" || ["of", "first", "second"].some((part) => term[part] && usesManhattan(term[part]));
}

// x -> k(x, y_j) for all rows y_j of a table; products that are known already may be given.
class KernelValues {
  constructor(term, table, eps) {
    this.kernel = kernelOf(term, eps);
    this.table = table;
    this.lengths = squaredLengths(table);
    this.products = new Float64Array(table.rows);
    this.values = new Float64Array(table.rows);
    this.far = usesManhattan(term) ? new Float64Array(table.rows) : null;
  }

  at(x) {
    if (this.far) this.measure(x);
    return this.from(squaredLength(x), timesRows(this.table, x, this.products));
  }

  from(xx, products) {
    const { kernel, lengths, values, far } = this;
    for (let i = 0; i < values.length; i += 1) values[i] = kernel(xx, lengths[i], products[i], far ? far[i] : 0);
    return values;
  }

  measure(x) {
    const { data, rows, columns } = this.table;
    for (let i = 0; i < rows; i += 1) {
      let sum = 0;
      for (let j = 0; j < columns; j += 1) sum += Math.abs(x[j] - data[i * columns + j]);
      this.far[i] = sum;
    }
  }
}
