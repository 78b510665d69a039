// What is shown, kept while the page loads itself anew, and who must draw when it changes.
const data = JSON.parse(document.getElementById("data").textContent);
const groups = data.groups;
const tasks = [...new Set(groups.map((group) => group.task))];
const KEY = `lossyfl ${location.pathname}`;
const state = { task: tasks[0], hidden: {}, zoom: {}, controls: {}, link: null, ...recall(sessionStorage_, KEY) };
if (!tasks.includes(state.task)) state.task = tasks[0];
const listeners = [];

function sessionStorage_() {
  return window.sessionStorage;
}

// Browsers may forbid storage to files; then nothing is remembered.
function recall(storage, key) {
  try {
    return JSON.parse(storage().getItem(key)) || {};
  } catch {
    return {};
  }
}

function keep(storage, key, value) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch {
    // Not allowed here.
  }
}

function changed() {
  keep(sessionStorage_, KEY, state);
  for (const listener of listeners) listener();
}

const nameOf = (group) => `${group.task}\n${group.label}`;
const colour = (group) => `var(--g${group.number})`;
const metrics = () => data.metrics[state.task];
const metricOf = (name) => metrics().find((metric) => metric.name === name) || metrics()[0];
const ofTask = () => groups.filter((group) => group.task === state.task);
const isShown = (group) => !state.hidden[nameOf(group)];
const shown = () => ofTask().filter(isShown);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svgElement(name, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function swatch(group) {
  const made = element("i", { class: "swatch" });
  made.style.setProperty("--c", colour(group));
  return made;
}
