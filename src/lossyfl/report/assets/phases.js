// Where a round goes: one bar per group.
const PARTS = [
  ["broadcast", "broadcast"], ["devices", "devices train and reply"], ["close", "close the round"],
  ["evaluate", "evaluate"], ["save", "save"],
];

function mean(values) {
  return values.length ? values.reduce((a, b) => a + (b ?? 0), 0) / values.length : 0;
}

function phaseMeans(group) {
  const all = Object.fromEntries(["broadcast", "devices", "evaluate", "save", "total"].map((name) => [name, mean(series(group, name))]));
  const rest = all.total - all.broadcast - all.devices - all.evaluate - all.save;
  return { ...all, close: Math.max(rest, 0) };
}

function drawPhases() {
  const host = document.getElementById("phases");
  const means = shown().filter((group) => group.rounds).map((group) => ({ group, all: phaseMeans(group) }));
  const longest = Math.max(...means.map(({ all }) => all.total), 1e-12);
  host.querySelector(".keys").replaceChildren(...PARTS.map(([, text], i) => {
    const key = element("i");
    key.style.setProperty("--c", `var(--p${i})`);
    return element("span", {}, key, text);
  }));
  host.querySelector(".bars").replaceChildren(...means.map(({ group, all }) => {
    const track = element("div", { class: "track" });
    PARTS.forEach(([name, text], i) => {
      const part = element("i", { title: `${text}: ${duration(all[name])}` });
      part.style.setProperty("--c", `var(--p${i})`);
      part.style.width = `${(100 * all[name]) / longest}%`;
      track.append(part);
    });
    const label = element("span", { title: group.label }, swatch(group), group.label);
    return element("div", {}, element("div", { class: "name" }, label, element("span", {}, duration(all.total))), track);
  }));
}
