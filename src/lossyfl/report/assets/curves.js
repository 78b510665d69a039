// Values of a group, round by round.
function series(group, name, part = "mean") {
  const values = group.series[name][part];
  return Array.isArray(values) ? values : Array(group.rounds).fill(values);
}

function summed(values) {
  let sum = 0;
  return values.map((value) => (sum += value ?? 0));
}

function ratio(over, under, factor = 1) {
  return over.map((value, i) => (under[i] > 0 ? (factor * value) / under[i] : null));
}

const rounds = (group) => Array.from({ length: group.rounds }, (_, i) => i + 1);

// A curve over rounds, with its band if there is one.
function banded(group, name, x) {
  const has = group.series[name].low !== undefined;
  return {
    x,
    y: series(group, name),
    low: has ? series(group, name, "low") : undefined,
    high: has ? series(group, name, "high") : undefined,
  };
}

const overRounds = (name) => (group) => banded(group, name, rounds(group));

// A metric, or what is missing of a fraction to all of it, where a log axis shows more.
function evaluations(group, x, { metric, scale }) {
  if (!group.series[`metric ${metric}`]) return null;
  const seen = banded(group, `metric ${metric}`, x);
  if (scale !== "error") return seen;
  const missing = (values) => values?.map((value) => (value === null ? null : 1 - value));
  return { x, y: missing(seen.y), low: missing(seen.high), high: missing(seen.low) };
}

// Bytes sent until the end of every round.
function sent(group, way) {
  const down = summed(series(group, "down"));
  const up = summed(series(group, "up"));
  return { down, up, both: down.map((value, i) => value + up[i]) }[way];
}

function saving(group, { way, by }) {
  const under = summed(series(group, by === "real" ? way : `paper_${way}`));
  return { x: rounds(group), y: ratio(summed(series(group, `raw_${way}`)), under, by === "real" ? 1 : 33 / 32) };
}

function bitsPerEntry(group, { way, by }) {
  const bits = series(group, { real: way, entropy: `entropy_${way}`, paper: `paper_${way}` }[by]);
  return { x: rounds(group), y: ratio(bits, series(group, `raw_${way}`), 32) };
}
