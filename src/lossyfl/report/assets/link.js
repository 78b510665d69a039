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
  return { ...data.link, target: suggestedTarget(), ...state.link };
}

// The highest whole percent that every scheme reached, but for those that come to nothing.
function suggestedTarget() {
  const bests = ofTask().map((group) => Math.max(...series(group, "accuracy").filter((value) => value !== null)));
  const reached = bests.filter(Number.isFinite);
  const good = reached.filter((value) => value >= 0.9 * Math.max(...reached));
  return good.length ? Math.floor(100 * Math.min(...good)) / 100 : 0.9;
}

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
  form.elements.target.value = Number((100 * target).toPrecision(6));
}

function readForm() {
  const read = (name) => (form.elements[name].value === "" ? NaN : Number(form.elements[name].value));
  const asked = {
    downlink: read("downlink") * Number(form.elements["downlink-unit"].value),
    uplink: read("uplink") * Number(form.elements["uplink-unit"].value),
    latency: read("latency") / 1000,
    target: read("target") / 100,
  };
  const good = (name) => (name === "latency" || name === "target" ? asked[name] >= 0 : asked[name] > 0);
  const kept = Object.keys(asked).filter(good).map((name) => [name, asked[name]]);
  const before = link();
  state.link = { ...state.link, ...Object.fromEntries(kept.filter(([name, value]) => value !== before[name])) };
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
  document.getElementById("goal").textContent = `${trimmed(100 * target, 4)} %`;
  document.querySelector("#reach tbody").replaceChildren(...shown().map((group) => {
    const first = series(group, "accuracy").findIndex((value) => value !== null && value >= target - 1e-9);
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
