// Words, bars, tables and lines of texts.
function drawWords(part) {
  const found = make("p", { class: part.role || null, title: part.tip || null });
  for (const piece of part.pieces) {
    const one = make(piece.bold ? "b" : "span", { text: piece.text });
    if (piece.ink !== undefined && piece.ink !== null) one.style.color = inkColor(piece.ink);
    found.append(one);
  }
  return found;
}

function drawOneLine(part) { return make("p", { class: "muted", text: part.text }); }

function barCell(share, ink, chosen) {
  const bar = make("i", {}), found = make("td", { class: "bar", "aria-hidden": "true" }, make("span", {}, bar));
  bar.style.width = between(0, 100 * share, 100).toFixed(2) + "%";
  bar.style.background = ink;
  if (chosen) found.classList.add("chosen");
  return found;
}

function drawBars(part) {
  const values = unpacked(part.values), limit = part.limit || Math.max(...Array.from(values, Math.abs)) || 1;
  const rows = part.labels.map((label, place) => {
    const value = values[place], texts = part.texts ? part.texts[place] : percentageFigure(value);
    const ink = value < 0 ? "var(--fell)" : part.highlighted.includes(place) || !part.highlighted.length ? "var(--accent)" : "var(--slate)";
    return make("tr", { class: part.faded.includes(place) ? "faded" : place === part.current ? "current" : null },
      make("th", { scope: "row" }, token(label)), barCell(Math.abs(value) / limit, ink), make("td", { class: "figure", text: texts }),
      part.notes.length ? make("td", { class: "note", text: part.notes[place] || "" }) : null);
  });
  return make("table", { class: "bars", "aria-label": part.says || "bars" }, make("tbody", {}, rows));
}

// A row for each word, with what the pointer brings in the window below it.
function drawWordBars(part) {
  const values = unpacked(part.values), line = part.line && unpacked(part.line), errors = part.errors && unpacked(part.errors);
  const known = Array.from(values).filter(Number.isFinite), limit = Math.max(...known.map(Math.abs), 1e-9);
  const rows = part.words.map((word, place) => {
    const value = values[place], isKnown = Number.isFinite(value);
    const notes = [isKnown && errors && Number.isFinite(errors[place]) ? "± " + numberFigure(errors[place]) : "", line && Number.isFinite(line[place]) ? "line " + numberFigure(line[place]) : "", part.below[place] || ""];
    return make("tr", { class: place === part.current ? "current" : null, title: part.readouts ? part.readouts[place].join("\n") : null },
      make("th", { scope: "row" }, token(word)), barCell(isKnown ? Math.abs(value) / limit : 0, value < 0 ? "var(--fell)" : "var(--rose)"),
      make("td", { class: "figure", text: isKnown ? numberFigure(value) : "–" }), make("td", { class: "note", text: notes.filter(Boolean).join(" · ") }));
  });
  return make("table", { class: "bars", "aria-label": part.says || "bars" }, make("tbody", {}, rows));
}

// What models say to the same beginnings, and below how each goes on.
function drawAnswers(part) {
  const columns = part.columns.map((column) => ({ column, shares: unpacked(column.shares) }));
  const head = make("tr", {}, ["beginning", "word"].map((name) => make("th", { scope: "col", text: name })), columns.map((one) => make("th", { scope: "col" }, lineSample(one.column), one.column.name)));
  const rows = part.prompts.map((prompt, place) => make("tr", {}, make("th", { scope: "row", text: prompt }), make("td", {}, token(part.words[place] || "")), columns.map((one) =>
    make("td", {}, percentageFigure(one.shares[place]), one.column.expected[place] ? make("span", { class: "muted" }, " expects ", token(one.column.expected[place])) : null))));
  const texts = columns.filter((one) => one.column.text).map((one) => make("p", {}, make("b", { text: one.column.name + ": " }), one.column.text));
  return make("div", {}, make("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": part.says || "answers" }, make("table", { class: "plain" }, make("thead", {}, head), make("tbody", {}, rows))), texts);
}

function drawTable(part) {
  const table = make("table", { class: "plain", "aria-label": part.says || "table" }), body = make("tbody", {});
  const count = part.columns.length ? part.columns[0].texts.length : 0, bars = part.columns.map((column) => column.bars && unpacked(column.bars));
  table.append(make("thead", {}, make("tr", {}, part.columns.map((column) => make("th", { scope: "col", class: column.numeric ? "figure" : null, text: column.title })))), body);
  for (let row = 0; row < count; row++) {
    body.append(make("tr", { class: row === part.current ? "current" : null }, part.columns.map((column, place) => {
      const cell = make(place ? "td" : "th", { scope: place ? null : "row", class: column.numeric ? "figure" : null });
      if (column.colors.length) { const dot = make("i", { class: "sample" }); dot.style.borderColor = inkColor(column.colors[row]); cell.append(dot); }
      cell.append(column.tokens ? token(column.texts[row]) : column.texts[row]);
      if (bars[place]) {
        const sizes = Array.from(bars[place], (value) => Number.isFinite(value) ? Math.abs(value) : 0);
        const most = Math.max(...sizes) || 1, bar = make("span", { class: "small", "aria-hidden": "true" }, make("i", {}));
        bar.firstChild.style.width = (100 * sizes[row] / most).toFixed(1) + "%";
        cell.append(bar);
      }
      return cell;
    })));
  }
  return make("div", { class: "scrolled", tabindex: 0, role: "region", "aria-label": part.says || "table" }, table);
}

function drawShifts(part) {
  const before = unpacked(part.before), after = unpacked(part.after);
  return plainTable(["", "before", "after", "change"], part.labels.map((label, place) => [label, percentageFigure(before[place]), percentageFigure(after[place]),
    (after[place] < before[place] ? "−" : "+") + Math.abs(100 * (after[place] - before[place])).toFixed(1) + " points"]));
}

function drawLabels(part) {
  const rows = part.rows.map((row) => make("tr", {}, make("th", { scope: "row", text: row.name }), row.labels.map((label) =>
    make("td", { class: label[2] ? "wrong" : null, title: label[0] ? percentageFigure(label[1]) : null, text: label[0] }))));
  if (part.gold.length) rows.push(make("tr", {}, make("th", { scope: "row", text: "right" }), part.gold.map((label) => make("td", { text: label }))));
  const head = make("tr", {}, make("td", {}), part.words.map((word) => make("th", { scope: "col" }, token(word))));
  return make("div", { class: "scrolled", tabindex: 0 }, make("table", { class: "plain", "aria-label": part.says || "labels" }, make("thead", {}, head), make("tbody", {}, rows)));
}

function drawOccurrences(part) {
  return make("ul", { class: "lines", "aria-label": part.says || "places" }, part.lines.map((line) =>
    make("li", {}, make("bdi", { text: line[0] }), make("b", { text: line[1] }), make("mark", { text: line[2] }), make("bdi", { text: line[3] }))));
}

function drawPushedLines(part) {
  const rows = part.rows.map((row) => {
    const pushes = unpacked(row.pushes), tokens = row.tokens.map((word, place) => {
      const found = token(word), level = between(-1, pushes[place] || 0, 1);
      found.style.background = level ? cellColor("signed", level) : "";
      found.style.color = wordColor("signed", level);
      return found;
    });
    const said = make("td", { class: "figure", text: row.said });
    said.style.color = inkColor(row.ink);
    return make("tr", { class: row.heading ? "heading" : row.inner ? "inner" : null, title: row.tip.join("\n") || null },
      make("th", { scope: "row" }, row.label[0] + " ", make("b", { text: row.label[1] })), make("td", { class: "figure", text: row.times }),
      make("td", {}, row.mark ? make("span", { class: "muted", text: row.mark + " " }) : null, tokens), said);
  });
  const heads = [part.heads[0], part.heads[1], part.heads[2], part.heads[4]];
  return make("table", { class: "plain pushed", "aria-label": part.says || "lines" },
    make("thead", {}, make("tr", {}, heads.map((name) => make("th", { scope: "col", text: name })))), make("tbody", {}, rows));
}

function drawFirings(part) {
  const rows = part.rows.map((row) => {
    const strengths = unpacked(row.strengths), tokens = row.tokens.map((word, place) => {
      const found = token(word), level = between(0, strengths[place] || 0, 1);
      found.style.background = level ? cellColor("signed", level) : "";
      found.style.color = wordColor("signed", level);
      found.style.fontWeight = place === row.place ? "700" : "";
      return found;
    });
    return make("tr", { title: row.tip.join("\n") || null },
      make("td", { class: "figure" }, tokens.slice(0, row.place)), make("td", {}, tokens.slice(row.place)), make("td", { class: "figure", text: row.said }));
  });
  return make("table", { class: "plain pushed", "aria-label": part.says || "lines" }, make("tbody", {}, rows));
}

function drawPicture(part) {
  const canvas = make("canvas", { role: "img", "aria-label": part.says || "picture of the window" });
  const text = atob(part.png), bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type: "image/png" })).then((image) => {
    canvas.width = image.width; canvas.height = image.height;
    canvas.style.maxWidth = part.size[0] + "px"; canvas.style.width = "100%";
    canvas.getContext("2d").drawImage(image, 0, 0);
  });
  return canvas;
}

let polls = 0;
function drawPoll(part) {
  const name = "poll-" + ++polls, choices = part.choices.map(([letter, text]) => make("label", { "data-letter": letter },
    make("input", { type: "radio", name, value: letter }), make("b", { text: letter }), make("span", { text })));
  const answer = make("details", { class: "answer" }, make("summary", { text: "Show the answer" }));
  answer.append(make("p", {}, make("b", { text: part.right ? part.right + " is right." : "The answer is not in this file." }), part.computed ? " " + part.computed : ""),
    part.because ? make("p", { text: part.because }) : "");
  answer.addEventListener("toggle", () => choices.forEach((choice) => choice.classList.toggle("right", answer.open && choice.dataset.letter === part.right)));
  return make("fieldset", { class: "poll" }, make("legend", { text: part.question }), choices, answer);
}
