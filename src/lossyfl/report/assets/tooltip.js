// What lies under the cursor, as a small table beside it.
const ROWS = 12;

class Tooltip {
  constructor(plot) {
    this.box = element("div", { class: "tip", "aria-hidden": "true" });
    this.box.hidden = true;
    this.plot = plot;
    plot.append(this.box);
  }

  show(title, found, format, x, width) {
    const rows = [...found].sort((a, b) => b.point.y - a.point.y);
    this.box.replaceChildren(element("b", {}, title), ...rows.slice(0, ROWS).map((row) => this.row(row, format)));
    if (rows.length > ROWS) this.box.append(element("small", {}, `and ${rows.length - ROWS} more`));
    this.box.hidden = false;
    const size = this.box.offsetWidth;
    const left = x + 14 + size > width ? x - size - 14 : x + 14;
    this.box.style.transform = `translate(${Math.max(0, Math.min(left, width - size))}px, 6px)`;
  }

  row({ group, point }, format) {
    const value = element("output", {}, format(point.y));
    if (point.low !== undefined && point.low !== point.high) {
      value.append(element("small", {}, ` ${format(point.low)} to ${format(point.high)}`));
    }
    return element("div", {}, swatch(group), element("span", {}, group.label), value);
  }

  hide() {
    this.box.hidden = true;
  }
}
