// A plot of one curve per group: drawn anew when anything changes, hovered, zoomed by dragging.
const HEIGHT = 280;
const charts = [];

class Chart {
  constructor(host, spec) {
    this.spec = spec;
    this.zoomKey = spec.x.key;
    this.plot = element("div", { class: "plot" });
    this.controls = element("div", { class: "controls" });
    this.title = element("h3");
    const caption = element("figcaption", {}, this.title);
    this.note = element("p");
    caption.append(this.note);
    const figure = element("figure", { class: "chart", id: `chart-${spec.id}` }, caption);
    if (spec.controls) figure.append(this.controls);
    figure.append(this.plot);
    host.append(figure);
    this.svg = svgElement("svg", { tabindex: "0", role: "img" });
    this.plot.append(this.svg);
    this.tip = new Tooltip(this.plot);
    this.reset = element("button", { type: "button", class: "reset" }, "Reset zoom");
    this.reset.addEventListener("click", () => this.zoomTo(null));
    this.plot.append(this.reset);
    this.listen();
    charts.push(this);
  }

  get chosen() {
    const defaults = {};
    const said = { ...state.controls[this.spec.id] };
    for (const { key, options } of this.controlsOfTask) {
      defaults[key] = options[0][0];
      if (!options.some(([value]) => value === said[key])) delete said[key];
    }
    return { ...defaults, ...said };
  }

  // Some differ from task to task, as metrics do.
  get controlsOfTask() {
    const { controls } = this.spec;
    return typeof controls === "function" ? controls() : controls || [];
  }

  choose(key, value) {
    state.controls[this.spec.id] = { ...this.chosen, [key]: value };
    changed();
  }

  draw(asked) {
    const width = asked ?? Math.max(240, Math.round(this.plot.clientWidth));
    this.drawControls();
    const chosen = this.chosen;
    this.axisX = typeof this.spec.x.of === "function" ? this.spec.x.of(chosen) : this.spec.x;
    this.axisY = typeof this.spec.y === "function" ? this.spec.y(chosen) : this.spec.y;
    this.curves = shown().map((group) => ({ group, points: this.points(group, chosen) }));
    this.title.textContent = typeof this.spec.title === "function" ? this.spec.title(chosen) : this.spec.title;
    this.note.textContent = typeof this.spec.note === "function" ? this.spec.note(chosen) : this.spec.note;
    this.width = width;
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.setAttribute("aria-label", `${this.title.textContent}, ${this.note.textContent}`);
    this.tip.hide();
    this.reset.hidden = !state.zoom[this.zoomKey];
    if (!this.curves.some((curve) => curve.points.length)) return this.drawNothing();
    this.scales();
    this.drawAxes();
    this.drawCurves();
    this.overlay = svgElement("g");
    this.svg.append(this.overlay);
    return undefined;
  }

  points(group, chosen) {
    const values = this.spec.curve(group, chosen);
    if (!values) return [];
    const points = [];
    for (let i = 0; i < values.y.length; i += 1) {
      const [x, y] = [values.x[i], values.y[i]];
      if (y === null || x === null || !Number.isFinite(y)) continue;
      if ((this.axisX.log && x <= 0) || (this.axisY.log && y <= 0)) continue;
      const point = { x, y };
      if (values.low) {
        point.low = this.axisY.log && values.low[i] <= 0 ? y : values.low[i];
        point.high = values.high[i];
      }
      points.push(point);
    }
    return points;
  }

  scales() {
    const all = this.curves.flatMap((curve) => curve.points);
    let low = Infinity;
    let high = -Infinity;
    for (const point of all) {
      low = Math.min(low, point.x);
      high = Math.max(high, point.x);
    }
    if (!this.axisX.log) low = Math.min(low, this.axisX.from ?? low);
    const zoom = state.zoom[this.zoomKey];
    [low, high] = zoom || [low, high];
    if (low === high) [low, high] = this.axisX.log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
    const [bottom, top] = this.rangeY(all.filter((point) => point.x >= low && point.x <= high));
    this.sy = (this.axisY.log ? logarithmic : linear)(bottom, top, HEIGHT - 38, 10);
    this.ticksY = this.sy.ticks(5);
    const letters = Math.max(...this.ticksY.map((tick) => this.axisY.tick(tick).length));
    this.left = Math.max(30, 12 + 6.6 * letters);
    this.right = this.width - 10;
    this.sx = (this.axisX.log ? logarithmic : linear)(low, high, this.left, this.right);
    this.domain = [low, high];
  }

  rangeY(points) {
    let low = Infinity;
    let high = -Infinity;
    for (const point of points) {
      low = Math.min(low, point.low ?? point.y);
      high = Math.max(high, point.high ?? point.y);
    }
    if (!Number.isFinite(low)) return this.axisY.log ? [1, 10] : [0, 1];
    if (this.axisY.log) return low === high ? [low / 2, high * 2] : [low / (high / low) ** 0.05, high * (high / low) ** 0.05];
    if (this.axisY.zero) low = Math.min(low, 0);
    const pad = (high - low || Math.abs(high) || 1) * 0.05;
    const least = low >= 0 && low - pad < 0 ? 0 : low - pad;
    return [least, Math.min(high + pad, this.axisY.most ?? Infinity)];
  }

  drawAxes() {
    const base = HEIGHT - 38;
    for (const tick of this.ticksY) {
      const y = Math.round(this.sy.map(tick)) + 0.5;
      this.svg.append(svgElement("line", { class: "rule", x1: this.left, x2: this.right, y1: y, y2: y }));
      this.text(this.axisY.tick(tick), this.left - 7, y + 3.5, "end");
    }
    let last = -Infinity;
    const wanted = Math.max(2, Math.floor((this.right - this.left) / 84));
    const own = !this.axisX.log && this.axisX.ticks;
    for (const tick of own ? own(...this.domain, wanted) : this.sx.ticks(wanted)) {
      const x = Math.round(this.sx.map(tick)) + 0.5;
      const label = this.axisX.tick(tick);
      const half = 3.3 * label.length;
      const middle = Math.min(x, this.width - half);
      this.svg.append(svgElement("line", { class: "axis", x1: x, x2: x, y1: base, y2: base + 4 }));
      if (middle - half < last + 8) continue;
      last = middle + half;
      this.text(label, middle, base + 16, "middle");
    }
    this.svg.append(svgElement("line", { class: "axis", x1: this.left, x2: this.right, y1: base + 0.5, y2: base + 0.5 }));
    this.text(this.axisX.label, this.right, base + 33, "end");
  }

  text(words, x, y, anchor) {
    const made = svgElement("text", { x, y, "text-anchor": anchor });
    made.textContent = words;
    this.svg.append(made);
  }

  drawCurves() {
    const id = `clip-${this.spec.id}`;
    const clip = svgElement("clipPath", { id });
    clip.append(svgElement("rect", { x: this.left, y: 4, width: this.right - this.left + 3, height: HEIGHT - 41 }));
    const layer = svgElement("g", { "clip-path": `url(#${id})` });
    this.svg.append(clip, layer);
    this.paths = [];
    for (const { group, points } of this.curves) {
      const lines = subsampled(this.visible(points), this.sx);
      if (lines.length && lines[0].low !== undefined) {
        this.addPath(layer, group, "area", { d: bandPath(lines, this.sx, this.sy), fill: colour(group) });
      }
    }
    for (const { group, points } of this.curves) {
      const lines = subsampled(this.visible(points), this.sx);
      const dashes = { stroke: colour(group), "stroke-dasharray": group.dash.join(" ") };
      this.addPath(layer, group, "curve", { d: linePath(lines, this.sx, this.sy), ...dashes });
      if (lines.length <= 20) this.addDots(layer, group, lines);
    }
  }

  // With one point more on either side, so that lines leave the plot.
  visible(points) {
    const [low, high] = this.domain;
    const first = points.findIndex((point) => point.x >= low);
    if (first < 0) return [];
    let end = points.findIndex((point) => point.x > high);
    if (end < 0) end = points.length;
    return points.slice(Math.max(first - 1, 0), end + 1);
  }

  addPath(layer, group, kind, attributes) {
    const made = svgElement("path", { class: kind, "data-group": group.number, ...attributes });
    layer.append(made);
    this.paths.push(made);
  }

  addDots(layer, group, points) {
    for (const point of points) {
      layer.append(svgElement("circle", { cx: this.sx.map(point.x), cy: this.sy.map(point.y), r: 2.2, fill: colour(group) }));
    }
  }

  drawNothing() {
    this.overlay = null;
    this.text(shown().length ? "Nothing was recorded." : "No scheme is switched on.", this.width / 2, HEIGHT / 2, "middle");
  }

  drawControls() {
    if (!this.spec.controls) return;
    const focused = this.controls.contains(document.activeElement) && document.activeElement.dataset.option;
    const made = this.controlsOfTask.map((control) => this.control(control));
    this.controls.replaceChildren(...made);
    if (focused) this.controls.querySelector(`[data-option="${focused}"]`)?.focus();
  }

  control({ key, label, options }) {
    const chosen = this.chosen[key];
    if (options.length > 4) {
      const select = element("select", { "aria-label": label, "data-option": key });
      for (const [value, text] of options) select.append(element("option", { value }, text));
      select.value = chosen;
      select.addEventListener("change", () => this.choose(key, select.value));
      return select;
    }
    const buttons = options.map(([value, text]) => {
      const pressed = String(value === chosen);
      const button = element("button", { type: "button", "aria-pressed": pressed, "data-option": `${key}-${value}` }, text);
      button.addEventListener("click", () => this.choose(key, value));
      return button;
    });
    return element("div", { class: "seg", role: "group", "aria-label": label }, ...buttons);
  }

  // Hovering and zooming.
  listen() {
    const svg = this.svg;
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerleave", () => this.leave());
    svg.addEventListener("pointerdown", (event) => this.press(event));
    svg.addEventListener("pointerup", (event) => this.release(event));
    svg.addEventListener("pointercancel", () => this.leave());
    svg.addEventListener("dblclick", () => this.zoomTo(null));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("blur", () => this.leave());
  }

  where(event) {
    const box = this.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.width;
    return Math.max(this.left, Math.min(this.right, x));
  }

  press(event) {
    if (!this.overlay || event.button !== 0 || event.pointerType === "touch") return;
    this.start = this.where(event);
    this.svg.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.svg.focus({ preventScroll: true });
  }

  move(event) {
    if (!this.overlay) return;
    const x = this.where(event);
    if (this.start !== undefined && Math.abs(x - this.start) > 4) this.drawZone(x);
    else this.hover(x);
  }

  release(event) {
    if (this.start === undefined) return;
    const [from, to] = [this.start, this.where(event)].sort((a, b) => a - b);
    this.start = undefined;
    this.overlay?.replaceChildren();
    if (to - from > 4) this.zoomTo([this.sx.invert(from), this.sx.invert(to)]);
  }

  leave() {
    this.start = undefined;
    this.cursor = undefined;
    this.overlay?.replaceChildren();
    this.tip.hide();
  }

  key(event) {
    if (!this.overlay) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") this.zoomTo(null);
    if (!step) return;
    event.preventDefault();
    const stride = ((this.right - this.left) / 60) * step;
    this.hover(Math.max(this.left, Math.min(this.right, (this.cursor ?? this.left) + stride)));
    document.getElementById("said").textContent = this.tip.box.innerText;
  }

  zoomTo(range) {
    if (range) state.zoom[this.zoomKey] = range;
    else delete state.zoom[this.zoomKey];
    changed();
  }

  drawZone(x) {
    this.tip.hide();
    const [from, to] = [this.start, x].sort((a, b) => a - b);
    this.overlay.replaceChildren(svgElement("rect", { class: "zone", x: from, y: 10, width: to - from, height: HEIGHT - 48 }));
  }

  hover(pixel) {
    this.cursor = pixel;
    let x = this.sx.invert(pixel);
    if (this.axisX.whole) x = Math.max(1, Math.round(x), Math.ceil(this.domain[0]));
    const found = this.curves.map(({ group, points }) => ({ group, point: lastBefore(points, x) })).filter(({ point }) => point);
    this.overlay.replaceChildren();
    if (!found.length) return this.tip.hide();
    const line = Math.round(this.sx.map(x)) + 0.5;
    this.overlay.append(svgElement("line", { class: "cross", x1: line, x2: line, y1: 10, y2: HEIGHT - 38 }));
    for (const { group, point } of found) {
      const [cx, cy] = [this.sx.map(point.x), this.sy.map(point.y)];
      if (cx < this.left - 1) continue;
      this.overlay.append(svgElement("circle", { class: "dot", cx, cy, r: 4, fill: colour(group) }));
    }
    return this.tip.show(this.axisX.name(x), found, this.axisY.format, line, this.width);
  }

  focusOn(number) {
    for (const path of this.paths || []) {
      path.classList.toggle("dim", number !== null && path.dataset.group !== String(number));
    }
  }
}

// The last point that is not after x: what was there by then.
function lastBefore(points, x) {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle].x <= x) low = middle + 1;
    else high = middle;
  }
  return points[low - 1];
}
