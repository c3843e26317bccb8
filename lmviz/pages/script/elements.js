// Elements. Words are set as text alone: nothing that a word holds can become an element.
const SVG = "http://www.w3.org/2000/svg";

function make(tag, options, ...children) {
  return filled(document.createElement(tag), options, children);
}

function drawn(tag, options, ...children) {
  return filled(document.createElementNS(SVG, tag), options, children);
}

function filled(element, options, children) {
  for (const [name, value] of Object.entries(options || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "style") Object.assign(element.style, value);
    else if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

function token(words, options) {
  return make("bdi", Object.assign({ class: "token", text: words }, options));
}

function inkColor(ink) {
  if (typeof ink === "number") return "var(--series-" + (ink % 18) + ")";
  if (/^#[0-9a-f]{6}$/i.test(ink)) return ink;
  return /^[a-z_]+$/.test(ink || "") ? "var(--" + ink.replace(/_/g, "-") + ", var(--text))" : "var(--text)";
}

// A picture under which stands what the pointer says, and all of its numbers as a table for who asks.
function pictured(says, picture, rows) {
  const readout = make("p", { class: "readout", "aria-live": "polite" });
  const figure = make("figure", { role: "group", "aria-label": says }, picture, readout);
  if (rows) figure.append(tableBehind(rows));
  figure.say = (lines) => say(readout, lines);
  return figure;
}

function say(readout, lines) {
  readout.replaceChildren(...lines.filter((line) => line).map((line, place) => make(place ? "span" : "b", { text: line })));
}

// `rows` gives the head and the rows of a table, when it is first opened.
function tableBehind(rows) {
  const details = make("details", { class: "behind" }, make("summary", { text: "The numbers as a table" }));
  const fill = () => {
    if (!details.open || details.children.length > 1) return;
    const found = rows(), shown = found.rows.slice(0, MOST_TABLE_ROWS);
    details.append(make("div", { class: "scrolled", tabindex: 0 }, plainTable(found.head, shown)));
    if (shown.length < found.rows.length) {
      details.append(make("p", { class: "muted", text: "The first " + shown.length + " of " + found.rows.length + " rows: all are in the JSON of this file." }));
    }
  };
  details.addEventListener("toggle", fill);
  return details;
}

// What is drawn once it is asked for.
function folded(title, parts) {
  const details = make("details", { class: "behind" }, make("summary", { text: title }));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(...parts().flat().filter(Boolean));
  });
  return details;
}

const MOST_TABLE_ROWS = 2000;

function plainTable(head, rows) {
  const names = make("tr", {}, head.map((name) => make("th", { scope: "col", text: name })));
  return make("table", { class: "plain" }, make("thead", {}, names), make("tbody", {}, rows.map((row) =>
    make("tr", {}, row.map((cell, place) => make(place ? "td" : "th", { scope: place ? null : "row", text: cell }))))));
}

// What has to be drawn again where the colours of the system change, or the page is printed.
const redrawn = [];
function redrawAll() { for (const draw of redrawn) draw(); }

// Draws at once, and again where there is another width.
function drawnToWidth(element, draw) {
  let width = 0;
  const again = () => {
    const now = Math.floor(element.clientWidth);
    if (now && now !== width) { width = now; draw(now); }
  };
  new ResizeObserver(() => requestAnimationFrame(again)).observe(element);
  kept(redrawn, () => width && draw(width));
  return element;
}

// Arrow keys within an element: `move` is told by how much, along x and along y.
function movedByKeys(element, move) {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  element.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move(step[0], step[1]);
  });
}

function between(least, value, most) { return Math.max(least, Math.min(value, most)); }

function themeColor(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}
