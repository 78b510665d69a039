// Everything comes together.
const local = () => window.localStorage;
const PRINTED = 400; // pixels of a plot on paper, where two are side by side
const THEME = "lossyfl theme";

function drawChips() {
  const host = document.getElementById("chips");
  const focused = host.contains(document.activeElement) ? [...host.children].indexOf(document.activeElement) : -1;
  host.replaceChildren(...ofTask().map(chip));
  if (ofTask().some((group) => !isShown(group))) {
    const all = element("button", { type: "button", class: "chip all" }, "show all");
    all.addEventListener("click", () => only(null));
    host.append(all);
  }
  if (focused >= 0) host.children[Math.min(focused, host.children.length - 1)].focus();
}

function chip(group) {
  const sample = svgElement("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
  const line = svgElement("line", { x1: 0, x2: 26, y1: 5, y2: 5, "stroke-width": 2.5, "stroke-dasharray": group.dash.join(" ") });
  line.style.stroke = colour(group);
  sample.append(line);
  const title = "click: off or on; double click: only this one";
  const made = element("button", { type: "button", class: "chip", "aria-pressed": String(isShown(group)), title }, sample, group.label);
  if (group.seeds > 1) made.append(element("small", {}, `${group.seeds} seeds`));
  made.addEventListener("click", (event) => (event.detail === 2 ? only(group) : toggle(group)));
  made.addEventListener("pointerenter", () => charts.forEach((chart) => chart.focusOn(isShown(group) ? group.number : null)));
  made.addEventListener("pointerleave", () => charts.forEach((chart) => chart.focusOn(null)));
  return made;
}

function toggle(group) {
  if (isShown(group)) state.hidden[nameOf(group)] = true;
  else delete state.hidden[nameOf(group)];
  changed();
}

function only(group) {
  for (const other of ofTask()) {
    if (group === null || other === group) delete state.hidden[nameOf(other)];
    else state.hidden[nameOf(other)] = true;
  }
  changed();
}

function drawTasks() {
  const host = document.getElementById("tasks");
  host.hidden = tasks.length < 2;
  host.replaceChildren(...tasks.map((task) => {
    const made = element("button", { type: "button", "aria-pressed": String(task === state.task) }, task);
    made.addEventListener("click", () => {
      Object.assign(state, { task, zoom: {} });
      fillForm();
      changed();
    });
    return made;
  }));
}

function isDark() {
  const said = document.documentElement.dataset.theme;
  return said ? said === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function setTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
}

function drawAll() {
  drawChips();
  drawTasks();
  markRows();
  for (const chart of charts) chart.draw();
  drawPhases();
  drawReach();
}

for (const host of document.querySelectorAll("[data-charts]")) {
  for (const id of host.dataset.charts.split(" ")) new Chart(host, SPECS.find((spec) => spec.id === id));
}
setTheme(recall(local, THEME).theme);
document.getElementById("theme").addEventListener("click", () => {
  setTheme(isDark() ? "light" : "dark");
  keep(local, THEME, { theme: document.documentElement.dataset.theme });
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme());
form.addEventListener("input", readForm);
form.addEventListener("submit", (event) => event.preventDefault());
sortable(document.getElementById("results"));
fillForm();
listeners.push(drawAll);
drawAll();

let width = document.documentElement.clientWidth;
window.addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  for (const chart of charts) chart.draw();
});
window.addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const chart of charts) chart.draw(PRINTED);
});
window.addEventListener("afterprint", () => charts.forEach((chart) => chart.draw()));
if (data.reload) setTimeout(() => location.reload(), 1000 * data.reload);
