"use strict";
// Tables of class "sorts": a click on a heading sorts by that column, numbers as numbers (data-value where text is not one).
function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
for (const table of document.querySelectorAll("table.sorts")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (down ? -1 : 1) * compare(valueOf(a, column), valueOf(b, column)));
      table.tBodies[0].append(...rows);
    });
  });
}
// The bar on top filters the rows of class "claim": by words, all of which must be there, and by verdict.
const bar = document.querySelector("form.filter");
if (bar) {
  const apply = () => {
    const words = bar.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = bar.elements.verdict.value;
    let shown = 0;
    for (const row of document.querySelectorAll("tr.claim")) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word)) && (!verdict || row.dataset.verdict === verdict);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    bar.querySelector("output").textContent = `${shown} shown`;
  };
  bar.addEventListener("input", apply);
  bar.addEventListener("submit", (event) => event.preventDefault());
  apply();
}
