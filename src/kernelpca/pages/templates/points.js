// Points that are combinations of the model's rows: as rows of numbers, or as weights of the rows.
class RowPoints {
  constructor(table) {
    this.table = table;
    this.size = table.columns;
  }

  sample(i, out) {
    out.set(this.table.data.subarray(i * this.size, (i + 1) * this.size));
  }

  // Dot products with all rows; returns the squared length.
  products(x, out) {
    timesRows(this.table, x, out);
    return squaredLength(x);
  }

  combine(weights, out) {
    combineRows(this.table, weights, out);
  }

  // Squared length of x, and its squared difference from y, whose squared length is yy.
  compare(x, y) {
    let off = 0;
    for (let j = 0; j < x.length; j += 1) off += (x[j] - y[j]) * (x[j] - y[j]);
    return { length: squaredLength(x), off };
  }

  leave(x, out) {
    out.set(x);
  }
}

// Where rows are long: all lengths follow from dot products of rows, and no row is touched before the answer is drawn.
class WeightPoints {
  constructor(table) {
    this.table = table;
    this.size = table.rows;
    this.dots = table.dots ??= dotProducts(table);
    this.image = new Float64Array(this.size);
  }

  sample(i, out) {
    out.fill(0);
    out[i] = 1;
  }

  products(w, out) {
    timesRows(this.dots, w, out);
    return dot(w, out);
  }

  combine(weights, out) {
    out.set(weights);
  }

  compare(w, v, vv) {
    const length = this.products(w, this.image);
    return { length, off: length - 2 * dot(v, this.image) + vv };
  }

  leave(w, out) {
    combineRows(this.table, w, out);
  }
}

function dotProducts(table) {
  const { data, rows, columns } = table;
  const dots = { data: new Float64Array(rows * rows), rows, columns: rows };
  const row = new Float64Array(columns), products = new Float64Array(rows);
  for (let i = 0; i < rows; i += 1) {
    row.set(data.subarray(i * columns, (i + 1) * columns));
    timesRows({ data, rows: i + 1, columns }, row, products);
    for (let j = 0; j <= i; j += 1) dots.data[i * rows + j] = dots.data[j * rows + i] = products[j];
  }
  return dots;
}

function isLong(table) {
  return table.columns > table.rows;
}
