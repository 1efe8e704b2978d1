"use strict";
// Sorts and filters the tables of the class page. It holds nothing that students wrote, and puts no text on the page as
// markup; without it each table is there as it was written.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const text = (row, place) => row.cells[place].textContent.trim();
  const number = (row, place) => {
    const found = /^[-\u2212]?\d+(\.\d+)?/.exec(text(row, place));
    return found ? Number(found[0].replace("\u2212", "-")) : -Infinity;
  };
  const words = new Intl.Collator("en", { numeric: true });
  heads.forEach((head, place) => {
    const counted = rows.filter((row) => number(row, place) > -Infinity).length;
    const numeric = place > 0 && 2 * counted > rows.length;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = numeric
        ? (one, other) => number(one, place) - number(other, place)
        : (one, other) => words.compare(text(one, place), text(other, place));
      rows.sort((one, other) => (down ? compare(other, one) : compare(one, other)) || 0);
      body.append(...rows);
    });
  });
  const form = document.createElement("form");
  form.className = "filter";
  form.addEventListener("submit", (event) => event.preventDefault());
  const field = (name, type) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = type;
    if (type === "number") input.step = "any";
    label.append(`${name} `, input);
    form.append(label);
    return input;
  };
  const search = field("rows with", "search");
  const points = heads.findIndex((head) => head.textContent.trim() === "points");
  const [least, most] = points < 0 ? [] : [field("points from", "number"), field("to", "number")];
  const count = document.createElement("output");
  form.append(count);
  const show = () => {
    let shown = 0;
    for (const row of rows) {
      const earned = points < 0 ? 0 : number(row, points);
      row.hidden =
        !row.textContent.toLowerCase().includes(search.value.toLowerCase()) ||
        (least && least.value !== "" && earned < Number(least.value)) ||
        (most && most.value !== "" && earned > Number(most.value));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${rows.length}`;
  };
  form.addEventListener("input", show);
  show();
  table.parentElement.before(form);
}
