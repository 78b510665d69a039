// A table that sorts by any column.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sortBy(table, heads, column)));
}

function sortBy(table, heads, column) {
  const before = heads[column].getAttribute("aria-sort");
  const numbers = column > 0;
  const first = numbers ? "descending" : "ascending";
  const second = numbers ? "ascending" : "descending";
  const order = before === first ? second : first;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", order);
  const body = table.tBodies[0];
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...body.rows].sort((a, b) => compare(a.cells[column], b.cells[column], sign, numbers));
  body.append(...rows);
}

// What is missing comes last either way.
function compare(a, b, sign, numbers) {
  const [x, y] = [a.dataset.value, b.dataset.value];
  if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
  return sign * (numbers ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true }));
}

// Rows of other tasks are gone, those of schemes that are off are pale.
function markRows() {
  for (const row of document.querySelectorAll("[data-group]:not(path)")) {
    const group = groups[Number(row.dataset.group)];
    row.hidden = group.task !== state.task;
    row.classList.toggle("off", !isShown(group));
  }
}
