// Numbers as lmviz/base/figures.py writes them.
function separated(text) {
  const parts = text.split(".");
  parts[0] = parts[0].replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return parts.join(".");
}

function withoutNegativeZero(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

function numberFigure(value, digits) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value), places = digits === undefined ? 3 : digits;
  if (size !== 0 && (size < 0.5 * Math.pow(10, -places) || size >= 1e6)) {
    return value.toExponential(1).replace("e+", "e").replace(/-/g, "−");
  }
  return separated(withoutNegativeZero(value.toFixed(places))).replace("-", "−");
}

function cellFigure(value) {
  if (!Number.isFinite(value)) return numberFigure(value);
  const size = Math.abs(value), digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return withoutNegativeZero(value.toFixed(digits)).replace("-", "−");
}

function percentageFigure(share) {
  const percent = 100 * share, left = 100 - percent;
  if (!Number.isFinite(percent)) return numberFigure(percent);
  if (left > 2e-5 && left <= 0.05) return percent.toFixed(-Math.floor(Math.log10(left))) + " %";
  if (percent === 0 || percent >= 0.95) return withoutNegativeZero(percent.toFixed(1)) + " %";
  if (percent < 1e-4) return numberFigure(percent) + " %";
  return percent.toFixed(1 - Math.floor(Math.log10(percent))) + " %";
}

function wholePercentage(share) {
  const percent = 100 * share;
  if (!Number.isFinite(percent)) return numberFigure(percent) + " %";
  if (percent >= 99.5 && percent < 100 - 2e-5) return ">99 %";
  if (Math.abs(percent) > 0 && Math.abs(percent) < 0.95) {
    const text = Math.abs(percent) >= 1e-4 ? String(Number(percent.toPrecision(1))) : percent.toExponential(0);
    return text.replace(/-/g, "−") + " %";
  }
  return withoutNegativeZero(percent.toFixed(0)).replace("-", "−") + " %";
}
