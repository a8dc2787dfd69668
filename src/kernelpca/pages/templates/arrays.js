// Arrays that a page holds as text (written by kernelpca.pages.packed), and products with their rows.
const TYPES = { float32: Float32Array, float64: Float64Array, uint8: Uint8Array, uint16: Uint16Array };
const FINE = 2 ** 17; // numbers up to which an array keeps its 64 bits

function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// A table of numbers: `data` row by row, `rows` x `columns`; a list of numbers is one row.
function unpack(spec) {
  const raw = new TYPES[spec.type](bytesOf(spec.data).buffer);
  const columns = spec.shape[spec.shape.length - 1] ?? 1;
  const rows = columns ? raw.length / columns : 0;
  if (!spec.values) return { data: raw, rows, columns };
  const values = unpack(spec.values).data;
  const less = spec.less ? unpack(spec.less).data : null;
  const data = new (raw.length > FINE ? Float32Array : Float64Array)(raw.length);
  for (let i = 0; i < raw.length; i += 1) data[i] = values[raw[i]] - (less ? less[i % columns] : 0);
  return { data, rows, columns };
}

// out_i = row i times x; four rows at a time, so that x is read once for all of them.
function timesRows(table, x, out) {
  const { data, rows, columns } = table;
  let i = 0;
  for (; i + 3 < rows; i += 4) {
    const a = i * columns, b = a + columns, c = b + columns, d = c + columns;
    let p = 0, q = 0, r = 0, s = 0;
    for (let j = 0; j < columns; j += 1) {
      const value = x[j];
      p += data[a + j] * value;
      q += data[b + j] * value;
      r += data[c + j] * value;
      s += data[d + j] * value;
    }
    out[i] = p; out[i + 1] = q; out[i + 2] = r; out[i + 3] = s;
  }
  for (; i < rows; i += 1) {
    const a = i * columns;
    let p = 0;
    for (let j = 0; j < columns; j += 1) p += data[a + j] * x[j];
    out[i] = p;
  }
  return out;
}

// out = sum of w_i times row i; four rows at a time, so that out is written once for all of them.
function combineRows(table, w, out) {
  const { data, rows, columns } = table;
  out.fill(0);
  let i = 0;
  for (; i + 3 < rows; i += 4) {
    const p = w[i], q = w[i + 1], r = w[i + 2], s = w[i + 3];
    if (p === 0 && q === 0 && r === 0 && s === 0) continue;
    const a = i * columns, b = a + columns, c = b + columns, d = c + columns;
    for (let j = 0; j < columns; j += 1) {
      out[j] += p * data[a + j] + q * data[b + j] + r * data[c + j] + s * data[d + j];
    }
  }
  for (; i < rows; i += 1) {
    const a = i * columns, p = w[i];
    for (let j = 0; j < columns; j += 1) out[j] += p * data[a + j];
  }
  return out;
}

function dot(x, y) {
  let sum = 0;
  for (let j = 0; j < x.length; j += 1) sum += x[j] * y[j];
  return sum;
}

function squaredLength(x) {
  let sum = 0;
  for (let j = 0; j < x.length; j += 1) sum += x[j] * x[j];
  return sum;
}

function squaredLengths(table) {
  const { data, rows, columns } = table;
  const sums = new Float64Array(rows);
  for (let i = 0; i < rows; i += 1) {
    let sum = 0;
    for (let j = i * columns; j < (i + 1) * columns; j += 1) sum += data[j] * data[j];
    sums[i] = sum;
  }
  return sums;
}
