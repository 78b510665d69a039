// Time over a link. The same model as lossyfl/report/link.py, so that rates can be changed here.
const RATES = [["kbit/s", 1e3], ["Mbit/s", 1e6], ["Gbit/s", 1e9]];
const form = document.getElementById("link");

function elapsed(group, view) {
  const { downlink, uplink, latency } = link();
  const down = series(group, view === "broadcast" ? "down" : "link_unicast");
  const reply = series(group, "link_reply");
  const training = series(group, "link_training");
  const coding = series(group, "link_coding");
  return summed(down.map((sent, i) => 2 * latency + (8 * sent) / downlink + (8 * reply[i]) / uplink + training[i] + coding[i]));
}

function link() {
  const said = { ...state.link };
  return { ...data.link, ...said, target: said[askedKey()] ?? suggestedTarget() };
}

const seenOf = (group) => series(group, `metric ${metrics()[0].name}`);

// What every scheme reached, but for those that come to nothing: a whole percent, or three digits.
function suggestedTarget() {
  const metric = metrics()[0];
  const best = metric.better === "higher" ? Math.max : Math.min;
  const worst = metric.better === "higher" ? Math.min : Math.max;
  const reached = ofTask().map((group) => best(...seenOf(group).filter((value) => value !== null))).filter(Number.isFinite);
  const top = best(...reached);
  const good = reached.filter((value) => Math.abs(value - top) <= Math.abs(top) * (metric.better === "higher" ? 0.1 : 1));
  if (!good.length) return isFraction(metric) ? 0.9 : 0;
  const least = worst(...good);
  if (isFraction(metric)) return (metric.better === "higher" ? Math.floor : Math.ceil)(100 * least) / 100;
  const step = 10 ** (Math.floor(Math.log10(Math.abs(least) || 1)) - 2);
  return Number(((metric.better === "higher" ? Math.floor : Math.ceil)(least / step - 1e-9) * step).toPrecision(6));
}

// What is asked of one task says nothing of another.
const askedKey = () => `target ${state.task}`;

function fillForm() {
  const { downlink, uplink, latency, target } = link();
  for (const [name, value] of [["downlink", downlink], ["uplink", uplink]]) {
    const select = form.elements[`${name}-unit`];
    if (!select.options.length) {
      for (const [text, factor] of RATES) select.append(element("option", { value: factor }, text));
    }
    const unit = RATES.filter(([, factor]) => value >= factor).pop() || RATES[0];
    select.value = unit[1];
    form.elements[name].value = Number((value / unit[1]).toPrecision(6));
  }
  form.elements.latency.value = Number((1000 * latency).toPrecision(6));
  const metric = metrics()[0];
  form.elements.target.value = Number((shownIn(metric) * target).toPrecision(6));
  document.getElementById("target-name").textContent = `${capital(metric.name)} to reach`;
  document.getElementById("target-unit").textContent = metric.unit;
}

function readForm() {
  const read = (name) => (form.elements[name].value === "" ? NaN : Number(form.elements[name].value));
  const asked = {
    downlink: read("downlink") * Number(form.elements["downlink-unit"].value),
    uplink: read("uplink") * Number(form.elements["uplink-unit"].value),
    latency: read("latency") / 1000,
    target: read("target") / shownIn(metrics()[0]),
  };
  const allowed = { latency: (value) => value >= 0, target: Number.isFinite };
  const good = (name) => (allowed[name] || ((value) => value > 0))(asked[name]);
  const kept = Object.keys(asked).filter(good).map((name) => [name, asked[name]]);
  const before = link();
  state.link = { ...state.link, ...Object.fromEntries(kept.filter(([name, value]) => value !== before[name]).map(([name, value]) => [name === "target" ? askedKey() : name, value])) };
  delete state.zoom.seconds;
  changed();
}

// Bytes down up to a round, and how many of them were to catch up.
function sentDown(group, round) {
  const late = summed(series(group, "catch_up"))[round];
  const all = bytes(sent(group, "down")[round]);
  return late ? `${all}, of which catch-up ${bytes(late)}` : all;
}

function drawReach() {
  const { target } = link();
  const metric = metrics()[0];
  const reaches = (value) => (metric.better === "higher" ? value >= target - 1e-9 : value <= target + 1e-9);
  document.getElementById("goal").textContent = `${metric.name} ${inUnit(metric, target, 4)}`;
  document.querySelector("#reach tbody").replaceChildren(...shown().map((group) => {
    const first = seenOf(group).findIndex((value) => value !== null && reaches(value));
    const name = element("th", { scope: "row" }, swatch(group), group.label);
    const cell = (text) => element("td", {}, text);
    if (first < 0) return element("tr", {}, name, element("td", { colspan: "5" }, "not reached"));
    const values = [
      count(first + 1), sentDown(group, first), bytes(sent(group, "up")[first]),
      duration(elapsed(group, "broadcast")[first]), duration(elapsed(group, "unicast")[first]),
    ];
    return element("tr", {}, name, ...values.map(cell));
  }));
}
