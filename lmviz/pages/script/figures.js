// Numbers as lmviz/base/figures.py writes them.
function separated(text) {
  const parts = text.split(".");
  parts[0] = parts[0].replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return parts.join(".");
}

function withoutNegativeZero(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

// As toFixed, but what lies in the middle goes to the even digit, as in Python.
function fixed(value, digits) {
  const size = Math.abs(value), fives = Math.pow(5, digits), halves = Math.round(size * Math.pow(10, digits) * 2);
  const isMiddle = halves % 2 === 1 && halves % fives === 0 && halves / fives / Math.pow(2, digits + 1) === size;
  if (!isMiddle) return value.toFixed(digits);
  const whole = (halves - 1) / 2, even = whole % 2 === 0 ? whole : whole + 1;
  return (value < 0 ? "-" : "") + (even / Math.pow(10, digits)).toFixed(digits);
}

// In powers of ten, with one decimal.
function exponential(value) {
  const size = Math.abs(value), power = Math.pow(10, Math.floor(Math.log10(size)) - 1), halves = 2 * size / power;
  const isMiddle = size >= 1e6 && size < 9e15 && Number.isInteger(halves) && halves % 2 === 1 && halves * power === 2 * size;
  if (!isMiddle) return value.toExponential(1);
  const whole = (halves - 1) / 2, even = whole % 2 === 0 ? whole : whole + 1;
  return (value < 0 ? "-" : "") + (even * power).toExponential(1);
}

function numberFigure(value, digits) {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value), places = digits === undefined ? 3 : digits;
  if (size !== 0 && (size < 0.5 * Math.pow(10, -places) || size >= 1e6)) {
    return exponential(value).replace("e+", "e").replace(/-/g, "−");
  }
  return separated(withoutNegativeZero(fixed(value, places))).replace("-", "−");
}

function cellFigure(value) {
  if (!Number.isFinite(value)) return numberFigure(value);
  const size = Math.abs(value), digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return withoutNegativeZero(fixed(value, digits)).replace("-", "−");
}

function percentageFigure(share) {
  const percent = 100 * share, left = 100 - percent;
  if (!Number.isFinite(percent)) return numberFigure(percent);
  if (left > 2e-5 && left <= 0.05) return fixed(percent, -Math.floor(Math.log10(left))) + " %";
  if (percent === 0 || percent >= 0.95) return withoutNegativeZero(fixed(percent, 1)) + " %";
  if (percent < 1e-4) return numberFigure(percent) + " %";
  return fixed(percent, 1 - Math.floor(Math.log10(percent))) + " %";
}

function wholePercentage(share) {
  const percent = 100 * share;
  if (!Number.isFinite(percent)) return numberFigure(percent) + " %";
  if (percent >= 99.5 && percent < 100 - 2e-5) return ">99 %";
  if (percent > 0 && percent < 0.95) {
    const text = Number(percent.toExponential(0)) >= 1e-4 ? String(Number(fixed(percent, -Math.floor(Math.log10(percent))))) : percent.toExponential(0);
    return text.replace(/-/g, "−") + " %";
  }
  return withoutNegativeZero(fixed(percent, 0)).replace("-", "−") + " %";
}
