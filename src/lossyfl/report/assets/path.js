// Points to SVG paths. More points than pixels become the lowest and the highest of each pixel.
function subsampled(points, sx) {
  const out = [];
  let column = null;
  let bucket = [];
  const flush = () => {
    if (bucket.length < 4) out.push(...bucket);
    else {
      const low = bucket.reduce((a, b) => (b.y < a.y ? b : a));
      const high = bucket.reduce((a, b) => (b.y > a.y ? b : a));
      const kept = new Set([bucket[0], low, high, bucket[bucket.length - 1]]);
      out.push(...bucket.filter((point) => kept.has(point)));
    }
  };
  for (const point of points) {
    const here = Math.floor(sx.map(point.x));
    if (here !== column) {
      flush();
      bucket = [];
      column = here;
    }
    bucket.push(point);
  }
  flush();
  return out;
}

const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;

function linePath(points, sx, sy) {
  return points.length ? `M${points.map((p) => at(sx.map(p.x), sy.map(p.y))).join("L")}` : "";
}

function bandPath(points, sx, sy) {
  const up = points.map((p) => at(sx.map(p.x), sy.map(p.high)));
  const back = points.map((p) => at(sx.map(p.x), sy.map(p.low))).reverse();
  return points.length ? `M${up.concat(back).join("L")}Z` : "";
}
