// From values to pixels and back, with ticks that people like.
function linear(low, high, from, to) {
  const span = high - low || 1;
  return {
    map: (value) => from + ((value - low) / span) * (to - from),
    invert: (pixel) => low + ((pixel - from) / (to - from)) * span,
    ticks: (wanted) => linearTicks(low, high, wanted),
  };
}

function logarithmic(low, high, from, to) {
  const inner = linear(Math.log10(low), Math.log10(high), from, to);
  return {
    map: (value) => inner.map(Math.log10(value)),
    invert: (pixel) => 10 ** inner.invert(pixel),
    ticks: (wanted) => logTicks(low, high, wanted),
  };
}

function linearTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(wanted, 1);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.75);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

// Steps of time are those of clocks.
function timeTicks(low, high, wanted) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  const rough = (high - low) / Math.max(wanted, 1);
  const step = steps.find((s) => s >= rough * 0.75);
  if (rough < 1 || !step) return linearTicks(low, high, wanted);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

function logTicks(low, high, wanted) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, wanted).filter((tick) => tick > 0);
  const every = Math.max(1, Math.round(decades / Math.max(wanted, 1)));
  const inner = every > 1 ? [1] : decades * 3 <= wanted + 1 ? [1, 2, 5] : decades * 2 <= wanted + 1 ? [1, 3] : [1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    if (power % every !== 0) continue;
    for (const k of inner) {
      const tick = Number(`${k}e${power}`);
      if (tick >= low * 0.9999 && tick <= high * 1.0001) ticks.push(tick);
    }
  }
  return ticks;
}
