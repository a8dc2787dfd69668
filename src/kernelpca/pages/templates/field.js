// A field over the map, made a few places at a time while nothing else happens: coarse first, then finer.
const LEVELS = [8, 16, 32, 64];
const LEAST = 16; // cells that are made however long they take
const PATIENCE = 6000; // milliseconds that a finer field may take

class Field {
  constructor(evaluate) {
    this.evaluate = evaluate;
    this.side = LEVELS[LEVELS.length - 1] + 1;
    this.values = new Float32Array(this.side * this.side);
    this.restart();
  }

  restart() {
    this.values.fill(NaN);
    Object.assign(this, { level: 0, next: 0, cells: 0, stride: 1, spent: 0, count: 0, done: false });
  }

  // Goes on for some milliseconds; true when a finer field is finished.
  work(milliseconds) {
    const begun = performance.now(), cells = LEVELS[this.level], stride = (this.side - 1) / cells;
    const all = (cells + 1) * (cells + 1);
    while (this.next < all && performance.now() - begun < milliseconds) {
      const i = (this.next % (cells + 1)) * stride, j = Math.floor(this.next / (cells + 1)) * stride;
      const place = j * this.side + i;
      if (Number.isNaN(this.values[place])) {
        const left = milliseconds - (performance.now() - begun);
        const value = this.evaluate(i / (this.side - 1), 1 - j / (this.side - 1), left);
        if (value === null) break; // it goes on the next time
        this.values[place] = value;
        this.count += 1;
      }
      this.next += 1;
    }
    this.spent += performance.now() - begun;
    if (this.next < all) return false;
    Object.assign(this, { cells, stride, next: 0, level: this.level + 1 });
    const ahead = LEVELS[this.level] ? (LEVELS[this.level] + 1) ** 2 - all : Infinity;
    this.done = cells >= LEAST && !(ahead * (this.spent / Math.max(this.count, 1)) < PATIENCE);
    return true;
  }
}
