// The page: every section with its parts, drawn by their kinds.
const page = JSON.parse(document.getElementById("lmviz-page").textContent), later = [];

const DRAWN_BY = {
  stacked: (part) => make("div", {}, part.parts.map(draw)),
  side_by_side: drawSideBySide,
  words: drawWords, one_line: drawOneLine, matrix: (part) => drawMatrix(part), sized: drawSized, curves: drawCurves, word_curves: drawWordCurves, word_bars: drawWordBars, answers: drawAnswers,
  labels: drawLabels, occurrences: drawOccurrences, dots: drawDots, points: drawPoints, table: drawTable, bars: drawBars, shifts: drawShifts,
  pushed_lines: drawPushedLines, firings: drawFirings, token_text: drawTokenText, head_weights: drawHeadWeights, what_follows: drawWhatFollows, over_text: drawOverText,
  frames: drawFrames, poll_question: drawPoll, parts_graph: drawGraph, fixed_picture: drawPicture,
};

function draw(part) {
  return part && DRAWN_BY[part.kind] ? DRAWN_BY[part.kind](part) : null;
}

function drawSideBySide(part) {
  const box = make("div", { class: "beside" }, part.parts.map((one) => make("div", {}, draw(one))));
  box.style.setProperty("--first", part.shares[0] + "fr");
  box.style.setProperty("--second", part.shares[1] + "fr");
  return box;
}

function drawFrames(part) {
  const place = make("div", {}), figure = make("output", {}), input = make("input", { type: "range", min: 0, max: part.names.length - 1, step: 1, "aria-label": part.title });
  let mine = [], started = false;
  const show = (chosen) => {
    figure.textContent = part.names[chosen];
    input.setAttribute("aria-valuetext", part.names[chosen]);
    for (const forget of mine) forget();
    const outer = forgotten;
    forgotten = mine = [];
    place.replaceChildren(draw(part.parts[chosen]) || "");
    forgotten = outer;
    if (started) settle();
    started = true;
  };
  const slider = { title: part.title, names: part.names.join("\n"), take(chosen) { input.value = chosen; show(chosen); } };
  kept(sliders, slider);
  input.value = part.chosen;
  input.addEventListener("input", () => {
    const chosen = Number(input.value), alike = sliders.filter((one) => one.title === slider.title && one.names === slider.names);
    for (const one of alike) one.take(chosen);
    if (part.title === "step") for (const follow of stepped) follow(Number(part.names[chosen].replace(/,/g, "")));
  });
  show(part.chosen);
  return make("div", { class: "frames" }, make("label", { class: "slider" }, make("span", { text: part.title }), input, figure), place);
}

function drawSection(section) {
  const found = make("section", { "aria-label": section.title || null });
  if (section.title || section.aside) found.append(make("h2", {}, make("span", { text: section.title }), make("small", { text: section.aside })));
  if (section.instead) found.append(make("p", { class: "muted", text: section.instead }));
  const isPicture = section.parts.length > 1 && section.parts[0].kind === "fixed_picture";
  for (const part of isPicture ? section.parts.slice(0, 1) : section.parts) { const one = draw(part); if (one) found.append(one); }
  if (isPicture) found.append(folded("Its numbers", () => section.parts.slice(1).map((part) => [part.says ? make("h3", { text: part.says }) : null, draw(part)])));
  for (const sentence of section.left_out) found.append(make("p", { class: "left-out", text: sentence }));
  if (section.recipe) found.append(make("details", { class: "behind" }, make("summary", { text: "The same in Python" }), make("pre", {}, make("code", { text: section.recipe }))));
  return found;
}

// Whose numbers these are: once for all sections that have it in common.
function drawFoot() {
  const told = new Map();
  for (const section of page.sections) {
    const key = JSON.stringify(section.about);
    if (section.about.length) told.set(key, (told.get(key) || []).concat(section.title ? [section.title] : []));
  }
  const lists = [...told].map(([key, titles]) => make("div", {}, told.size > 1 ? make("p", { text: titles.join(", ") }) : null,
    make("dl", {}, JSON.parse(key).map(([name, value]) => make("div", {}, make("dt", { text: name }), make("dd", { text: value }))))));
  const file = "Written by lmviz " + page.lmviz + " on " + page.made + ". Numbers are float32, or rounded where the file says so. One file of about " + fileSize + " kB that loads nothing.";
  return make("footer", {}, lists, make("p", { text: file }));
}

// What can be drawn only once all parts are there.
function settle() {
  for (const ready of later.splice(0)) ready();
  for (const reading of readings) if (reading) reading.tell();
}

const fileSize = Math.round(document.documentElement.outerHTML.length / 1000).toLocaleString("en");
const main = document.getElementById("page");
for (const element of main.querySelectorAll("noscript")) element.remove();
for (const section of page.sections) main.append(drawSection(section));
main.append(drawFoot());
settle();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
addEventListener("beforeprint", () => { document.documentElement.classList.add("printing"); redrawAll(); });
addEventListener("afterprint", () => { document.documentElement.classList.remove("printing"); redrawAll(); });
// In a frame, such as that of a notebook, what is around it hears how tall the page is, and nothing else.
// A browser may not draw it before it comes into sight: until then it has no height.
function tellHeight() {
  const bottom = main.getBoundingClientRect().bottom + scrollY;
  if (bottom > 0) parent.postMessage({ lmvizHeight: Math.ceil(bottom) + 8 }, "*");
}
if (parent !== window) new ResizeObserver(tellHeight).observe(main);
