// What is of one text: words, attention, next word and lens point at the same position.
const readings = [], stepped = [], sliders = [];

// What a part keeps elsewhere goes with the part, where a slider puts another in its place.
let forgotten = null;
function kept(list, item) {
  list.push(item);
  if (forgotten) forgotten.push(() => list.splice(list.indexOf(item), 1));
}


function readingOf(text) {
  if (!readings[text]) {
    const tokens = page.texts[text];
    readings[text] = { tokens, position: tokens.length - 1, pinned: tokens.length - 1, bars: null, sentences: [], followers: [],
      point(position) { if (position !== this.position) { this.position = position; this.tell(); } },
      pin(position) { this.pinned = position; this.point(position); },
      leave() { this.point(this.pinned); },
      tell() { for (const follow of this.followers) follow(); } };
  }
  return readings[text];
}

function drawTokenText(part) {
  const reading = readingOf(part.text), values = unpacked(part.values);
  const matrix = matrixOf({ values: { shape: [1, values.length] }, numbers: values, scale: part.scale, limit: part.limit, floor: 0 });
  const words = reading.tokens.map((text, position) => {
    const level = position < values.length ? matrix.level(values[position]) : null, shown = token(text);
    shown.style.background = level === null ? "" : cellColor(part.scale === "count" ? "surprise" : part.scale, level);
    shown.style.color = part.scale === "count" ? "" : wordColor(part.scale, level);
    const known = position < values.length && !Number.isNaN(values[position]);
    return make("button", { type: "button", role: "option", tabindex: -1, "data-position": position,
      "aria-label": text + (known && part.measure ? ", " + part.measure + " " + numberFigure(values[position], 2) + " " + part.unit : "") }, shown,
      make("i", { class: "below", "aria-hidden": "true" }));
  });
  const box = make("div", { class: "text", role: "listbox", "aria-label": part.says || "the text: arrow keys move from word to word" }, words);
  const figure = pictured(part.says || "the text", box, () => ({ head: ["position", "token", ...(part.measure ? [part.measure + (part.unit ? " (" + part.unit + ")" : "")] : [])],
    rows: reading.tokens.map((text, position) => [String(position + 1), text, ...(part.measure ? [position < values.length && !Number.isNaN(values[position]) ? String(values[position]) : "–"] : [])]) }));
  if (part.measure && values.length) {
    const ends = [part.ends[0] || "0", part.ends[1] || "", "up to " + numberFigure(matrix.limit, 1) + (part.unit ? " " + part.unit : "")];
    figure.insertBefore(make("p", { class: "legend" }, make("span", {}, ends[0] + " ", make("i", { class: "stripe surprise" }), " " + [ends[1], ends[2]].filter(Boolean).join(": "))), box.nextSibling);
  }
  const place = (event) => { const word = event.target.closest("[data-position]"); return word ? Number(word.dataset.position) : -1; };
  box.addEventListener("pointerover", (event) => { const position = place(event); if (position >= 0) reading.point(position); });
  box.addEventListener("pointerleave", () => reading.leave());
  box.addEventListener("click", (event) => { const position = place(event); if (position >= 0) reading.pin(position); });
  movedByKeys(box, (x, y) => { reading.pin(between(0, reading.pinned + x + y, words.length - 1)); words[reading.pinned].focus(); });
  const follow = () => {
    const row = reading.bars && reading.bars.row(), at = reading.position;
    words.forEach((word, position) => {
      word.classList.toggle("on", position === at);
      word.setAttribute("aria-selected", position === at);
      word.tabIndex = position === reading.pinned ? 0 : -1;
      drawBelow(word.lastChild, row ? row[position] : NaN);
    });
    const value = values[at], measured = at < values.length && !Number.isNaN(value) && part.measure ? part.measure + " " + numberFigure(value, 2) + " " + part.unit : "";
    figure.say(["“" + reading.tokens[at] + "”", measured, ...reading.sentences.map((sentence) => sentence())]);
  };
  kept(reading.followers, follow);
  return figure;
}

function drawBelow(place, share) {
  place.replaceChildren();
  if (!(share >= 0.02)) return;
  const bar = make("b", {}), height = Math.max(3, 20 * Math.min(share, 1));
  bar.style.height = height + "px";
  place.append(bar);
  if (share >= 0.06) {
    const figure = make("em", { text: String(Math.round(100 * share)) });
    if (share < 0.72) { figure.style.top = height + "px"; figure.classList.add("outside"); }
    place.append(figure);
  }
}

function weightsOf(part) {
  const [heads, queries, keys] = (part.weights || part.top).shape;
  if (part.weights) return { heads, queries, keys, values: unpacked(part.weights) };
  const width = page.texts[part.keys].length, top = keys, shares = unpacked(part.top), places = unpacked(part.top_keys), values = new Float32Array(heads * queries * width).fill(NaN);
  for (let row = 0; row < heads * queries; row++) for (let rank = 0; rank < top; rank++) values[row * width + places[row * top + rank]] = shares[row * top + rank];
  return { heads, queries, keys: width, values };
}

function drawHeadWeights(part) {
  const weights = weightsOf(part), queries = readingOf(part.text), keys = readingOf(part.keys), size = weights.queries * weights.keys;
  let chosen = 0;
  const headAt = (head) => weights.values.subarray(head * size, (head + 1) * size);
  const counted = (index) => String(index + page.counted_from), named = (head) => "layer " + counted(part.places[head][0]) + ", head " + counted(part.places[head][1]);
  const row = () => headAt(chosen).subarray(queries.position * weights.keys, (queries.position + 1) * weights.keys);
  keys.bars = { row };
  kept(queries.sentences, () => {
    const now = row();
    let best = 0;
    now.forEach((share, key) => { if (!(share <= now[best])) best = key; });
    const told = named(chosen) + " looks at “" + keys.tokens[best] + "” there, with " + wholePercentage(now[best]) + " of its attention.";
    return told.charAt(0).toUpperCase() + told.slice(1);
  });
  const large = make("div", {}), wall = make("div", { class: "wall", role: "radiogroup", "aria-label": "heads" });
  const layers = [...new Set(part.places.map((place) => place[0]))].sort((one, other) => other - one);
  const buttons = [];
  for (const layer of layers) {
    const line = make("div", { class: "thumbnails" });
    part.places.forEach((place, head) => {
      if (place[0] !== layer) return;
      const canvas = make("canvas", { "aria-hidden": "true" });
      const button = make("button", { type: "button", role: "radio", class: "thumbnail", "aria-label": named(head), title: named(head), click: () => choose(head) }, canvas, make("span", { text: counted(place[1]) }));
      buttons[head] = button;
      const paint = () => { const values = headAt(head); let limit = 0; values.forEach((value, at) => { if (value > limit && at >= weights.keys) limit = value; });
        paintCells(canvas, matrixOf({ values: { shape: [weights.queries, weights.keys] }, numbers: values, scale: "share", limit: limit || 1, floor: 0 }), 72); canvas.style.width = "100%"; canvas.style.height = "auto"; };
      if (weights.values.length <= MOST_AT_ONCE) { paint(); kept(redrawn, paint); } else whenSeen(button, paint);
      line.append(button);
    });
    wall.append(make("div", { class: "wall-row" }, make("span", { class: "muted", text: "layer " + counted(layer) }), line));
  }
  function choose(head) {
    chosen = head;
    buttons.forEach((button, place) => { button.classList.toggle("on", place === head); button.setAttribute("aria-checked", place === head); });
    const readable = { kind: "matrix", says: "attention of " + named(head), values: { shape: [weights.queries, weights.keys] }, numbers: headAt(head), scale: "share", limit: null, floor: 0,
      rows: queries.tokens, columns: keys.tokens, words: [], stairs: [], stairs_mean: "", notes: [], notes_title: "", row: -1, column: -1 };
    const figure = drawMatrix(readable, { pointed: (query, key) => {
      const share = headAt(head)[query * weights.keys + key];
      queries.point(query);
      figure.say([Number.isNaN(share) ? "not exported: below the largest of its row" : percentageFigure(share),
        "“" + queries.tokens[query] + "” (" + (query + 1) + ") looks at “" + keys.tokens[key] + "” (" + (key + 1) + ")"]);
    } });
    large.replaceChildren(make("h3", { text: named(head).charAt(0).toUpperCase() + named(head).slice(1) }), figure);
    queries.tell();
    if (keys !== queries) keys.tell();
  }
  movedByKeys(wall, (x, y) => { const place = between(0, chosen + x + y, buttons.length - 1); choose(place); buttons[place].focus(); });
  if (keys !== queries) kept(queries.followers, () => keys.tell());
  later.push(() => choose(part.chosen));
  const few = Math.max(...layers.map((layer) => part.places.filter((place) => place[0] === layer).length)) <= 6;
  return make("div", { class: few ? "heads few" : "heads" }, make("p", { class: "muted", text: "Row looks at column; each head to its own maximum. Press one to see it." }), wall, large);
}

// Draws when it comes into sight, and again where colours change.
function whenSeen(element, draw) {
  let seen = false;
  const watch = new IntersectionObserver((entries) => {
    if (!seen && entries.some((entry) => entry.isIntersecting)) { seen = true; draw(); watch.disconnect(); }
  }, { rootMargin: "200px" });
  watch.observe(element);
  kept(redrawn, () => { seen = true; draw(); });
}

const SHOWN_WORDS = 10, MOST_AT_ONCE = 500000;

function drawWhatFollows(part) {
  const reading = readingOf(part.text), likeliest = unpacked(part.likeliest), shares = unpacked(part.shares), width = part.likeliest.shape[1];
  const logits = part.logits ? unpacked(part.logits) : null, size = logits ? part.logits.shape[1] : 0, orders = new Map();
  const word = (id) => { const found = page.vocabularies[part.vocabulary][id]; return found === undefined ? String(id) : found; };
  const options = Object.assign({}, part.options), head = make("h3", {}), body = make("tbody", {}), said = make("p", { class: "readout", "aria-live": "polite" });
  const lines = () => {
    const place = part.places.indexOf(reading.position);
    if (!logits || place < 0) {
      const from = reading.position * width;
      return { live: false, rows: Array.from({ length: Math.min(width, SHOWN_WORDS) }, (_, rank) => [word(likeliest[from + rank]), shares[from + rank], ""]), text: "" };
    }
    const here = logits.subarray(place * size, (place + 1) * size);
    if (!orders.has(place)) orders.set(place, descending(here));
    const found = distributionOf(here, orders.get(place), options);
    const rows = found.order.slice(0, SHOWN_WORDS).map((id, rank) => [word(id), found.probabilities[id], found.cutBy[rank]]);
    const text = found.choices.toLocaleString("en") + (found.choices === 1 ? " word" : " words") + " can come; entropy " + numberFigure(found.entropy, 2) + " bits.";
    return { live: true, rows, text };
  };
  const controls = pipelineControls(options, () => follow());
  const follow = () => {
    const found = lines();
    head.replaceChildren("After ", token("“" + reading.tokens[reading.position] + "”"));
    body.replaceChildren(...found.rows.map(([text, share, cut], rank) => make("tr", { class: cut ? "faded" : rank === 0 ? "first" : null },
      make("th", { scope: "row" }, token(text)), barCell(share, rank === 0 ? "var(--accent)" : "var(--slate)"), make("td", { class: "figure", text: cut ? "cut by " + cut : percentageFigure(share) }))));
    controls.hidden = !found.live;
    said.textContent = found.text;
  };
  kept(reading.followers, follow);
  kept(reading.sentences, () => { const first = lines().rows[0]; return first ? "Expected next: “" + first[0] + "”, " + wholePercentage(first[1]) + "." : ""; });
  return make("div", { class: "next" }, head, make("table", { class: "bars", "aria-label": part.says || "next word" }, body), said, controls);
}

function pipelineControls(options, changed) {
  const box = make("fieldset", { class: "pipeline" }, make("legend", { text: "From logits to this distribution" })), first = Object.assign({}, options), inputs = [];
  const ranges = [["temperature", "Temperature", 0, 3, 0.05], ["top_k", "Top-k (0: all)", 0, 50, 1], ["top_p", "Top-p", 0, 1, 0.01], ["min_p", "Min-p", 0, 1, 0.01]];
  for (const [name, title, least, most, step] of ranges) {
    const figure = make("output", {}), input = make("input", { type: "range", name, min: least, max: Math.max(most, options[name]), step, "aria-label": title });
    const show = () => { input.value = options[name]; figure.textContent = String(Number(options[name].toFixed(2))); };
    input.addEventListener("input", () => { options[name] = Number(input.value); figure.textContent = String(options[name]); changed(); });
    inputs.push(show);
    show();
    box.append(make("label", {}, make("span", { text: title }), input, figure));
  }
  box.append(make("button", { type: "button", text: "As it was", click: () => { Object.assign(options, first); inputs.forEach((show) => show()); changed(); } }));
  return box;
}

function drawOverText(part) {
  const reading = readingOf(part.text), figure = drawMatrix(part.matrix, { pointed: (_, column) => reading.point(part.positions[column]) });
  if (figure) kept(reading.followers, () => figure.mark(part.positions.indexOf(reading.position)));
  return figure;
}
