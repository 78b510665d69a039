// Numbers for people.
const SIZES = ["B", "kB", "MB", "GB", "TB"];

function trimmed(value, digits) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(Math.max(digits - 2, 0)).replace("+", "");
  return String(Number(value.toPrecision(size >= 1000 ? Math.max(digits, 4) : digits)));
}

function bytes(value, digits = 3) {
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < SIZES.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${Number(value.toPrecision(digits))} ${SIZES[unit]}`;
}

function percent(value, digits = 2) {
  return `${(100 * value).toFixed(digits)} %`;
}

// What is said of a metric.
const isFraction = (metric) => metric.unit === "%";
const shownIn = (metric) => (isFraction(metric) ? 100 : 1);

function inUnit(metric, value, digits) {
  const unit = metric.unit ? ` ${metric.unit}` : "";
  return `${trimmed(shownIn(metric) * value, digits)}${unit}`;
}

function valueOf(metric, value) {
  return isFraction(metric) ? percent(value) : inUnit(metric, value, 5);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function duration(value) {
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${trimmed(1e6 * value, 3)} µs`;
  if (value < 1) return `${trimmed(1e3 * value, 3)} ms`;
  if (value < 60) return `${trimmed(value, 3)} s`;
  if (value < 3600) return `${Math.floor(value / 60)}:${String(Math.floor(value % 60)).padStart(2, "0")} min`;
  if (value < 48 * 3600) return `${Math.floor(value / 3600)}:${String(Math.floor((value / 60) % 60)).padStart(2, "0")} h`;
  return `${trimmed(value / 86400, 3)} days`;
}

const plain = (value) => trimmed(value, 4);
const times = (value) => `${trimmed(value, 3)}x`;
const count = (value) => Math.round(value).toLocaleString("en");
