// Matrices: coloured cells, as a table where they can be read one by one, else as an image.
const ONE_SIDED = ["share", "count"];
const MOST_CELLS = 1600, LEAST_CELL = 11, READABLE_CELL = 38, LABEL_CELL = 56;

function matrixOf(part) {
  const values = part.numbers || unpacked(part.values), rows = part.values.shape[0], columns = part.values.shape[1];
  let largest = 0;
  for (const value of values) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  const limit = part.limit || (part.scale === "share" ? 1 : largest || 1);
  const oneSided = ONE_SIDED.includes(part.scale);
  const level = (value) => {
    if (!(value > -Infinity)) return null;
    const ratio = part.floor ? Math.log(Math.max(value, part.floor) / part.floor) / Math.log(limit / part.floor) : value / limit;
    return between(oneSided ? 0 : -1, ratio, 1);
  };
  return { part, values, rows, columns, limit, oneSided, level };
}

function cellColor(scale, level) {
  if (level === null) return "transparent";
  const percent = (100 * Math.abs(level)).toFixed(1) + "%";
  const mixed = (strong, none) => "color-mix(in srgb, var(--" + strong + ") " + percent + ", var(--" + none + "))";
  if (scale === "share") return mixed("share-all", "share-none");
  if (scale === "surprise") return "color-mix(in srgb, var(--validation) " + (75 * level).toFixed(1) + "%, var(--surface))";
  if (scale === "count") return mixed("count-all", "share-none");
  return mixed(level < 0 ? "signed-negative" : "signed-positive", "signed-zero");
}

function wordColor(scale, level) {
  if (level === null || Math.abs(level) < 0.5) return "";
  return scale === "share" ? "var(--on-share)" : scale === "count" ? "var(--on-count)" : "var(--paper)";
}

function saidOfCell(matrix, row, column) {
  const part = matrix.part, at = row * matrix.columns + column;
  if (part.readouts) return part.readouts[at];
  const value = matrix.values[at], name = (names, place) => names[place] || String(place + 1);
  const written = Number.isNaN(value) ? "not measured" : numberFigure(value);
  return [written, [name(part.rows, row), name(part.columns, column)].join(" · ")];
}

function drawMatrix(part, settings) {
  const matrix = matrixOf(part), options = settings || {};
  if (!matrix.rows || !matrix.columns) return null;
  const hasWords = part.words.length > 0, asTable = hasWords || matrix.rows * matrix.columns <= MOST_CELLS;
  const sheet = make("div", { class: asTable ? "bands" : "image", tabindex: 0, role: "application",
    "aria-label": (part.says || "matrix") + ", " + matrix.rows + " rows, " + matrix.columns + " columns: arrow keys move through its cells" });
  const figure = pictured(part.says || "matrix", sheet, () => cellsAsTable(matrix));
  figure.insertBefore(legend(matrix), sheet.nextSibling);
  let chosen = [Math.max(part.row, 0), Math.max(part.column, 0)];
  const point = (row, column) => {
    chosen = [row, column];
    figure.say(saidOfCell(matrix, row, column));
    if (options.pointed) options.pointed(row, column);
    mark(sheet, row, column);
  };
  movedByKeys(sheet, (x, y) => point(between(0, chosen[0] + y, matrix.rows - 1), between(0, chosen[1] + x, matrix.columns - 1)));
  if (asTable) {
    const over = (event) => {
      const cell = event.target.closest("td[data-row]");
      if (cell) point(Number(cell.dataset.row), Number(cell.dataset.column));
    };
    sheet.addEventListener("pointerover", over);
    sheet.addEventListener("click", over);
    drawnToWidth(sheet, (width) => { fillBands(sheet, matrix, width, hasWords); if (figure.column >= 0) figure.mark(figure.column); });
  } else {
    const canvas = make("canvas", { role: "img", "aria-label": part.says || "matrix" });
    sheet.append(canvas);
    const over = (event) => {
      const place = canvas.getBoundingClientRect();
      point(between(0, Math.floor((event.clientY - place.top) / place.height * matrix.rows), matrix.rows - 1),
        between(0, Math.floor((event.clientX - place.left) / place.width * matrix.columns), matrix.columns - 1));
    };
    sheet.addEventListener("pointermove", over);
    sheet.addEventListener("click", over);
    drawnToWidth(sheet, (width) => paintCells(canvas, matrix, Math.min(width, 640)));
  }
  figure.column = part.column;
  figure.mark = (column) => {
    figure.column = column;
    for (const cell of sheet.querySelectorAll("[data-column]")) cell.classList.toggle("at", Number(cell.dataset.column) === column);
  };
  return figure;
}

function mark(sheet, row, column) {
  for (const cell of sheet.querySelectorAll("td.on")) cell.classList.remove("on");
  const cell = sheet.querySelector('td[data-row="' + row + '"][data-column="' + column + '"]');
  if (cell) cell.classList.add("on");
}

// As many columns side by side as have room, and the others below.
function fillBands(sheet, matrix, width, hasWords) {
  const part = matrix.part, label = part.rows.length ? Math.min(130, 14 + 7 * Math.max(...part.rows.map((name) => name.length))) : 0;
  const notes = part.notes.length ? 44 : 0, room = Math.max(80, width - label - notes);
  const least = hasWords ? LABEL_CELL : LEAST_CELL;
  const across = Math.max(1, Math.min(matrix.columns, Math.floor(room / least)));
  const bands = Math.ceil(matrix.columns / across), columns = Math.ceil(matrix.columns / bands);
  const cell = Math.min(hasWords ? 110 : 64, Math.floor(room / columns));
  const found = [];
  for (let from = 0; from < matrix.columns; from += columns) {
    found.push(band(matrix, from, Math.min(from + columns, matrix.columns), cell, label, hasWords));
  }
  sheet.replaceChildren(...found);
}

function band(matrix, from, to, cell, label, hasWords) {
  const part = matrix.part, head = make("tr", {}, label ? make("td", {}) : null);
  const upright = cell >= LABEL_CELL - 4;
  for (let column = from; part.columns.length && column < to; column++) {
    head.append(make("th", { scope: "col", class: upright ? "level" : "steep", "data-column": column }, token(part.columns[column])));
  }
  if (part.notes.length && to === matrix.columns) head.append(make("th", { scope: "col", text: part.notes_title }));
  const body = make("tbody", {});
  for (let row = 0; row < matrix.rows; row++) {
    const line = make("tr", {}, label ? make("th", { scope: "row" }, token(part.rows[row])) : null);
    for (let column = from; column < to; column++) line.append(cellOf(matrix, row, column, cell, hasWords));
    if (part.notes.length && to === matrix.columns) line.append(make("td", { class: "note", text: part.notes[row] }));
    body.append(line);
  }
  const table = make("table", { class: "matrix" }, part.columns.length ? make("thead", {}, head) : null, body);
  table.style.setProperty("--cell", cell + "px");
  table.style.setProperty("--label", label + "px");
  return table;
}

function cellOf(matrix, row, column, size, hasWords) {
  const part = matrix.part, value = matrix.values[row * matrix.columns + column], level = matrix.level(value);
  const written = hasWords ? (part.words[row] || [])[column] || "" : size >= READABLE_CELL && level !== null ? cellFigure(value) : "";
  const stair = part.stairs.length && part.stairs[column] === row;
  const found = make("td", { "data-row": row, "data-column": column, class: stair ? "stair" : level === null ? "masked" : null,
    "aria-label": saidOfCell(matrix, row, column).join(", ") }, hasWords ? token(written) : written);
  found.style.background = cellColor(part.scale, level);
  found.style.color = wordColor(part.scale, level);
  return found;
}

// A picture of at most `width` pixels, in which each block of cells has its strongest colour.
function paintCells(canvas, matrix, width) {
  const dense = window.devicePixelRatio || 1, across = Math.round(width * dense);
  const down = Math.max(1, Math.round(Math.min(across * matrix.rows / matrix.columns, 560 * dense)));
  const cells = { columns: Math.min(across, matrix.columns), rows: Math.min(down, matrix.rows) };
  canvas.width = cells.columns; canvas.height = cells.rows;
  canvas.style.width = width + "px"; canvas.style.height = down / dense + "px";
  const brush = canvas.getContext("2d"), image = brush.createImageData(cells.columns, cells.rows);
  const strongest = new Float32Array(cells.columns * cells.rows).fill(NaN);
  for (let row = 0; row < matrix.rows; row++) {
    const line = Math.floor(row * cells.rows / matrix.rows) * cells.columns;
    for (let column = 0; column < matrix.columns; column++) {
      const level = matrix.level(matrix.values[row * matrix.columns + column]);
      const at = line + Math.floor(column * cells.columns / matrix.columns);
      if (level !== null && !(Math.abs(strongest[at]) >= Math.abs(level))) strongest[at] = level;
    }
  }
  const scale = matrix.part.scale, zero = themeColor(matrix.oneSided ? "share-none" : "signed-zero"), empty = themeColor("surface");
  const ends = [themeColor("signed-negative"), themeColor(scale === "share" ? "share-all" : scale === "count" ? "count-all" : "signed-positive")];
  strongest.forEach((level, at) => {
    const end = ends[level < 0 ? 0 : 1], share = Math.abs(level);
    for (let part = 0; part < 3; part++) {
      image.data[4 * at + part] = Number.isNaN(level) ? empty[part] : Math.round(zero[part] + (end[part] - zero[part]) * share);
    }
    image.data[4 * at + 3] = 255;
  });
  brush.putImageData(image, 0, 0);
}

function legend(matrix) {
  const part = matrix.part, stripe = make("i", { class: "stripe " + (matrix.oneSided ? part.scale : "signed") });
  const digits = Number.isInteger(matrix.limit) ? 0 : 2;
  const low = part.floor ? "≤ " + wholePercentage(part.floor) : matrix.oneSided ? "0" : numberFigure(-matrix.limit, digits);
  const high = part.floor ? wholePercentage(matrix.limit) + ", log" : numberFigure(matrix.limit, digits);
  const means = part.stairs_mean ? make("span", { class: "stairs" }, make("i", {}), part.stairs_mean) : null;
  return make("p", { class: "legend" }, means, make("span", {}, low + " ", stripe, " " + high));
}

function cellsAsTable(matrix) {
  const part = matrix.part, rows = [];
  for (let row = 0; row < matrix.rows; row++) {
    for (let column = 0; column < matrix.columns; column++) {
      const value = matrix.values[row * matrix.columns + column], words = part.words.length ? [(part.words[row] || [])[column] || ""] : [];
      rows.push([part.rows[row] || String(row + 1), part.columns[column] || String(column + 1), ...words,
        Number.isNaN(value) ? "–" : String(value)]);
    }
  }
  return { head: ["row", "column", ...(part.words.length ? ["word"] : []), "number"], rows };
}

// Cells whose size says something as well.
function drawSized(part) {
  const values = unpacked(part.values), sizes = unpacked(part.sizes), columns = part.values.shape[1], rows = part.values.shape[0];
  const matrix = matrixOf(Object.assign({ scale: "signed", limit: null, floor: 0, words: [], stairs: [], notes: [], stairs_mean: "" }, part, { numbers: values }));
  const table = make("table", { class: "matrix sized" });
  const figure = pictured(part.says || "cells", make("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": part.says || "cells" }, table), () => ({ head: [part.names[0], part.names[1], "number", "size"],
    rows: Array.from(values, (value, at) => [part.rows[Math.floor(at / columns)], part.columns[at % columns], String(value), String(sizes[at])]) }));
  table.append(make("tr", {}, make("td", {}), part.columns.map((name) => make("th", { scope: "col", text: name }))));
  for (let row = 0; row < rows; row++) {
    const line = make("tr", {}, make("th", { scope: "row", text: part.rows[row] }));
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column, marked = part.marked.some((cell) => cell[0] === row && cell[1] === column);
      const inner = make("i", {}), told = () => figure.say(saidOfCell(matrix, row, column));
      inner.style.background = cellColor("signed", matrix.level(values[at]));
      inner.style.width = inner.style.height = Math.round(100 * between(0, Math.sqrt(sizes[at]), 1)) + "%";
      line.append(make("td", { class: marked ? "on" : null, tabindex: 0, pointerover: told, focus: told,
        "aria-label": saidOfCell(matrix, row, column).join(", ") }, inner));
    }
    table.append(line);
  }
  return figure;
}
