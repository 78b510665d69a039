// The plots of the page.
const WAY = { key: "way", label: "Direction", options: [["down", "down"], ["up", "up"]] };
const ROUNDS = { key: "rounds", label: "rounds", from: 0, tick: count, name: (x) => `round ${count(x)}`, whole: true };
const BYTES = { key: "bytes", log: true, tick: (v) => bytes(v), name: (x) => `after ${bytes(x)}` };
const SECONDS = { key: "seconds", label: "time since the start", from: 0, tick: duration, ticks: timeTicks, name: (x) => `after ${duration(x)}` };
const ERROR = { tick: (v) => `${trimmed(100 * v, 3)} %`, format: (v) => percent(v), log: true };

// Of a fraction to be high, what is missing to all of it may be shown; of all others, their logarithm.
const canMiss = (metric) => isFraction(metric) && metric.better === "higher";
function metricControls() {
  const several = metrics().length > 1;
  const names = { key: "metric", label: "Metric", options: metrics().map(({ name }) => [name, name]) };
  const first = metrics().every(canMiss) ? [["value", several ? "linear" : metrics()[0].name], ["error", "error, log"]] : [["value", "linear"], ["log", "log"]];
  return [...(several ? [names] : []), { key: "scale", label: "Scale", options: first }];
}
function metricAxis({ metric, scale }) {
  const known = metricOf(metric);
  if (scale === "error") return ERROR;
  const most = canMiss(known) ? 1 : undefined;
  return { tick: (v) => inUnit(known, v, 4), format: (v) => valueOf(known, v), most, log: scale === "log" };
}
const metricName = ({ metric }) => metricOf(metric).name;
const measured = (chosen) => `test ${chosen.scale === "error" ? "error" : metricName(chosen)}`;
const direction = ({ metric, scale }) => (scale !== "error" && metricOf(metric).better === "higher" ? "" : ", lower is better");
const evaluated = (group, x, chosen) => evaluations(group, x, { ...chosen, metric: metricName(chosen) });
const LOSS = { tick: plain, format: plain };
const WAYS = { down: "sent down; a broadcast counts once, or every device’s copy", up: "sent up, all replies", both: "sent both ways" };
const PHASES = [
  ["total", "the whole round"], ["broadcast", "broadcast"], ["devices", "devices"], ["aggregate", "aggregate"],
  ["evaluate", "evaluate"], ["save", "save"], ["training", "training, all workers"], ["coding", "coding, all workers"],
];
const ABOUT_PHASE = {
  total: "seconds per round, everything",
  broadcast: "seconds to quantize, encode, decode and hand out the broadcast",
  devices: "seconds from the first job of a device to the last reply",
  aggregate: "seconds to decode and add replies and to close the round",
  evaluate: "seconds at the test set",
  save: "seconds for results and checkpoints",
  training: "seconds of local steps, added up over all workers",
  coding: "seconds to make replies, added up over all workers",
};

const SPECS = [
  {
    id: "metric-rounds", title: (chosen) => `${capital(metricName(chosen))} against rounds`,
    note: (chosen) => `${measured(chosen)} of the server’s model${direction(chosen)}`, x: ROUNDS,
    y: metricAxis, controls: metricControls, curve: (group, chosen) => evaluated(group, rounds(group), chosen),
  },
  {
    id: "metric-bytes", title: (chosen) => `${capital(metricName(chosen))} against bytes`,
    note: (chosen) => `${measured(chosen)}${direction(chosen)}, against all bytes ${WAYS[chosen.way]}`,
    x: { key: "bytes", of: ({ way }) => ({ ...BYTES, label: `bytes ${way === "both" ? "both ways" : way}` }) }, y: metricAxis,
    controls: () => [{ key: "way", label: "Direction", options: [["both", "both ways"], ["down", "down"], ["up", "up"]] }, ...metricControls()],
    curve: (group, chosen) => evaluated(group, sent(group, chosen.way), chosen),
  },
  {
    id: "bytes", title: "Bytes per round", note: ({ way }) => (way === "down" ? "all frames down; a broadcast counts once, or every device’s copy" : "all replies"),
    x: ROUNDS, y: { tick: (v) => bytes(v), format: (v) => bytes(v, 4), log: true }, controls: [WAY],
    curve: (group, { way }) => banded(group, way, rounds(group)),
  },
  {
    id: "saving", title: "Saving so far", x: ROUNDS, y: { tick: times, format: times, zero: true },
    note: ({ by }) => (by === "real" ? "times fewer bytes than 32-bit floats" : "the paper’s count: 33 bits per entry over R_Q"),
    controls: [WAY, { key: "by", label: "Count", options: [["real", "real bytes"], ["paper", "paper’s count"]] }], curve: saving,
  },
  {
    id: "bits", title: "Bits per entry", x: ROUNDS, y: { tick: plain, format: plain, log: true },
    note: ({ by }) => ({ real: "in frames as sent", entropy: "entropy of the symbols, the least that a code could take", paper: "R_Q over entries" }[by]),
    controls: [WAY, { key: "by", label: "Count", options: [["entropy", "entropy"], ["real", "frames"], ["paper", "paper’s count"]] }],
    curve: bitsPerEntry,
  },
  { id: "eps", title: "eps of the broadcast", note: "(x_max − x_min)² / ‖x‖², as in Lemma 1", x: ROUNDS, y: { ...LOSS, log: true }, curve: overRounds("eps") },
  { id: "distance", title: "Distance of the devices’ estimate", note: "‖theta − theta_hat‖: what the broadcast could not say", x: ROUNDS, y: LOSS, curve: overRounds("distance") },
  {
    id: "error", title: "Relative quantization error", x: ROUNDS, y: { ...LOSS, log: true }, controls: [WAY],
    note: ({ way }) => (way === "down" ? "of the broadcast: what was lost over what was quantized" : "of replies, the mean over devices"),
    curve: (group, { way }) => banded(group, `error_${way}`, rounds(group)),
  },
  {
    id: "peak", title: "Peak over root mean square", x: ROUNDS, y: { tick: plain, format: plain, log: true },
    note: ({ of }) => ({ down: "of the vector that the broadcast’s quantizer was given", up: "of replies, the mean over devices", model: "of the model theta" }[of]),
    controls: [{ key: "of", label: "Of", options: [["down", "broadcast"], ["up", "replies"], ["model", "model"]] }],
    curve: (group, { of }) => banded(group, `peak_${of}`, rounds(group)),
  },
  { id: "memory", title: "What replies left over", note: "‖delta_m‖, the root mean square over devices", x: ROUNDS, y: { ...LOSS, log: true }, curve: overRounds("memory") },
  { id: "train-loss", title: "Training loss", note: "of the local steps, the mean over devices", x: ROUNDS, y: LOSS, curve: overRounds("train_loss") },
  { id: "test-loss", title: "Test loss", note: "of the server’s model", x: ROUNDS, y: LOSS, curve: overRounds("test_loss") },
  {
    id: "metric-time", title: (chosen) => `${capital(metricName(chosen))} against time`,
    x: { key: "seconds", of: ({ axis }) => ({ ...SECONDS, log: axis === "log" }) }, y: metricAxis,
    note: ({ view }) => (view === "broadcast" ? "one transmission down, heard by all" : "every device on a link of its own"),
    controls: [{ key: "view", label: "Downlink", options: [["broadcast", "broadcast"], ["unicast", "unicast"]] },
      { key: "axis", label: "Axis of time", options: [["linear", "linear"], ["log", "log"]] }],
    curve: (group, chosen) => evaluated(group, elapsed(group, chosen.view), chosen),
  },
  {
    id: "seconds", title: "Seconds by phase", note: ({ phase }) => ABOUT_PHASE[phase], x: ROUNDS,
    y: { tick: duration, format: duration, zero: true }, controls: [{ key: "phase", label: "Phase", options: PHASES }],
    curve: (group, { phase }) => ({ x: rounds(group), y: series(group, phase) }),
  },
];
