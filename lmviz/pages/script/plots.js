// Curves, dots and points over axes.
const PLOT_HEIGHT = 260, PLOT_LEFT = 52, PLOT_RIGHT = 12, PLOT_TOP = 12, PLOT_BOTTOM = 38;

function ticksBetween(low, high, count) {
  const rough = (high - low) / count || 1, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  return found;
}

function axisOf(values, logarithmic, from, to) {
  const known = values.filter((value) => Number.isFinite(value) && (!logarithmic || value > 0));
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) { low = 0; high = 1; }
  if (low === high) { low -= logarithmic ? low / 2 : 0.5; high += logarithmic ? high : 0.5; }
  const place = logarithmic ? Math.log10 : (value) => value, start = place(low), end = place(high);
  const at = (value) => from + (place(value) - start) / (end - start) * (to - from);
  let ticks = [];
  if (logarithmic) for (let power = Math.ceil(start); power <= end; power++) ticks.push(Math.pow(10, power));
  if (ticks.length < 2) ticks = ticksBetween(low, high, Math.max(2, Math.abs(to - from) / (to > from ? 70 : 44)));
  return { at, ticks, low, high };
}

function tickFigure(value) {
  const size = Math.abs(value);
  return size >= 1e6 || (size && size < 1e-3) ? numberFigure(value) : separated(String(Number(value.toPrecision(4)))).replace("-", "−");
}

function frame(canvas, xs, ys, names, width, height) {
  const bottom = height - PLOT_BOTTOM;
  for (const tick of ys.ticks) {
    const y = ys.at(tick);
    canvas.append(drawn("line", { class: "grid", x1: PLOT_LEFT, x2: width - PLOT_RIGHT, y1: y, y2: y }),
      drawn("text", { class: "tick", x: PLOT_LEFT - 6, y: y + 4, "text-anchor": "end", text: tickFigure(tick) }));
  }
  for (const tick of xs.ticks) {
    canvas.append(drawn("text", { class: "tick", x: xs.at(tick), y: bottom + 16, "text-anchor": "middle", text: tickFigure(tick) }));
  }
  canvas.append(drawn("text", { class: "tick", x: width - PLOT_RIGHT, y: height - 4, "text-anchor": "end", text: names[0] }),
    drawn("text", { class: "tick", x: 0, y: 10, text: names[1] }));
}

function curvesIn(part) {
  return part.curves.map((curve) => ({ curve, x: Array.from(unpacked(curve.x)), y: Array.from(unpacked(curve.y)) }));
}

function drawCurves(part) {
  const curves = curvesIn(part), canvas = drawn("svg", { role: "img", "aria-label": part.says || part.y_name || "curves" });
  const sheet = make("div", { class: "plot", tabindex: 0, role: "application", "aria-label": (part.says || "curves") + ": arrow keys move along the axis" }, canvas);
  const steps = [...new Set(curves.flatMap((one) => one.x))].sort((one, other) => one - other);
  const figure = pictured(part.says || "curves", sheet, () => curvesAsTable(part, curves, steps));
  const names = make("p", { class: "legend" }, curves.map((one) => make("span", {}, lineSample(one.curve), one.curve.name)));
  figure.insertBefore(names, sheet);
  let chosen = part.cursor === null ? -1 : nearest(steps, part.cursor), xs = null, line = null;
  const point = (place) => {
    if (!steps.length) return;
    chosen = between(0, place, steps.length - 1);
    const x = steps[chosen], said = curves.map((one) => ({ one, y: one.y[one.x.indexOf(x)] })).filter((each) => each.y !== undefined && !Number.isNaN(each.y));
    figure.say([part.x_name + " " + tickFigure(x), ...said.map((each) => each.one.curve.name + " " + numberFigure(each.y))]);
    if (line) for (const end of ["x1", "x2"]) line.setAttribute(end, xs.at(x));
    if (line) line.setAttribute("visibility", "visible");
  };
  sheet.addEventListener("pointermove", (event) => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    if (xs && steps.length) point(nearest(steps.map(xs.at), x));
  });
  movedByKeys(sheet, (x) => x && point(chosen + x));
  if (part.x_name === "step") kept(stepped, (step) => { if (steps.length) point(nearest(steps, step)); });
  drawnToWidth(sheet, (width) => {
    canvas.replaceChildren();
    canvas.setAttribute("width", width); canvas.setAttribute("height", PLOT_HEIGHT);
    xs = axisOf(steps, part.logarithmic[0], PLOT_LEFT, width - PLOT_RIGHT);
    const heights = curves.filter((one) => !one.curve.guide).flatMap((one) => one.y).concat(part.references.map((one) => one[1]));
    const ys = axisOf(heights, part.logarithmic[1], PLOT_HEIGHT - PLOT_BOTTOM, PLOT_TOP + 8);
    frame(canvas, xs, ys, [part.x_name, part.y_name], width, PLOT_HEIGHT);
    for (const [name, y] of part.references) {
      canvas.append(drawn("line", { class: "reference", x1: PLOT_LEFT, x2: width - PLOT_RIGHT, y1: ys.at(y), y2: ys.at(y) }),
        drawn("text", { class: "tick", x: width - PLOT_RIGHT, y: ys.at(y) - 4, "text-anchor": "end", text: name }));
    }
    let free = 0;
    for (const [x, name] of part.marks) {
      if (x < xs.low || x > xs.high) continue;
      const at = xs.at(x), isLast = at > width - 60;
      canvas.append(drawn("line", { class: "mark", x1: at, x2: at, y1: PLOT_TOP, y2: PLOT_HEIGHT - PLOT_BOTTOM }));
      if (at < free) continue;
      canvas.append(drawn("text", { class: "tick", x: isLast ? at - 4 : at + 4, y: PLOT_TOP + 10, "text-anchor": isLast ? "end" : "start", text: name }));
      free = at + 12 + 7 * name.length;
    }
    for (const one of curves) canvas.append(...curveShapes(one, xs, ys));
    line = drawn("line", { class: "cursor", y1: PLOT_TOP, y2: PLOT_HEIGHT - PLOT_BOTTOM, visibility: "hidden" });
    canvas.append(line);
    if (chosen >= 0) point(chosen);
  });
  return figure;
}

function lineSample(curve) {
  const sample = make("i", { class: curve.dashed ? "sample dashed" : "sample" });
  sample.style.borderColor = inkColor(curve.ink);
  return sample;
}

function curveShapes(one, xs, ys) {
  const ink = inkColor(one.curve.ink), found = [];
  const seen = (place) => Number.isFinite(one.y[place]) && Number.isFinite(ys.at(one.y[place])) && Number.isFinite(xs.at(one.x[place]));
  if (one.curve.band) {
    const [low, high] = one.curve.band.map(unpacked), places = one.x.map((_, place) => place).filter((place) => Number.isFinite(low[place]) && Number.isFinite(high[place]));
    const edge = (values, order) => order.map((place) => xs.at(one.x[place]) + "," + ys.at(values[place])).join(" ");
    const shape = drawn("polygon", { class: "spread", points: edge(low, places) + " " + edge(high, [...places].reverse()) });
    shape.style.fill = ink;
    if (places.length) found.push(shape);
  }
  if (one.curve.dots) {
    one.x.forEach((x, place) => { if (seen(place)) { const dot = drawn("circle", { cx: xs.at(x), cy: ys.at(one.y[place]), r: 3 }); dot.style.fill = ink; found.push(dot); } });
    return found;
  }
  let path = "", goes = false;
  one.x.forEach((x, place) => {
    if (seen(place)) path += (goes ? "L" : "M") + xs.at(x).toFixed(1) + " " + ys.at(one.y[place]).toFixed(1);
    goes = seen(place);
  });
  const curve = drawn("path", { class: one.curve.dashed ? "curve dashed" : "curve", d: path });
  curve.style.stroke = ink;
  return [...found, curve];
}

function nearest(values, wanted) {
  let best = 0;
  values.forEach((value, place) => { if (Math.abs(value - wanted) < Math.abs(values[best] - wanted)) best = place; });
  return best;
}

function curvesAsTable(part, curves, steps) {
  return { head: [part.x_name, ...curves.map((one) => one.curve.name)],
    rows: steps.map((x) => [String(x), ...curves.map((one) => { const y = one.y[one.x.indexOf(x)]; return y === undefined || Number.isNaN(y) ? "–" : String(y); })]) };
}

// Curves over the words of a text: the words are their axis.
function drawWordCurves(part) {
  const places = part.words.map((_, place) => place), plain = { shape: [places.length], values: places };
  const curves = part.curves.map((one) => ({ name: one.name, ink: one.ink, dashed: one.turn > 0, x: plain, y: one.values, band: null, dots: false, guide: false }));
  if (part.below) curves.push({ name: "how far they disagree", ink: "muted_text", dashed: true, x: plain, y: part.below, band: null, dots: false, guide: false });
  const figure = drawCurves({ says: part.says, x_name: "word", y_name: "bits", logarithmic: [false, false], curves, marks: [], references: [], cursor: part.current >= 0 ? part.current : null });
  const told = figure.say;
  figure.say = (lines) => { const place = Number(lines[0].slice(5)); told(["“" + (part.words[place] || "") + "”", ...lines.slice(1)]); };
  figure.append(make("p", { class: "words" }, part.words.map((word) => token(word))));
  return figure;
}

function drawDots(part) {
  const rows = part.rows.map((row) => ({ row, values: Array.from(unpacked(row.values)) }));
  const canvas = drawn("svg", { role: "img", "aria-label": part.says || "dots" }), sheet = make("div", { class: "plot" }, canvas), tall = 46;
  const figure = pictured(part.says || "dots", sheet, () => ({ head: ["row", "number", "value"],
    rows: rows.flatMap((one) => one.values.map((value, place) => [one.row.label.replace("\n", " "), String(one.row.numbers[place] + 1), String(value)])) }));
  drawnToWidth(sheet, (width) => {
    const left = Math.min(150, width / 3), all = rows.flatMap((one) => one.values).concat([0]);
    const xs = axisOf(all, false, left, width - PLOT_RIGHT), height = tall * rows.length + 24;
    canvas.replaceChildren();
    canvas.setAttribute("width", width); canvas.setAttribute("height", height);
    canvas.append(drawn("line", { class: "mark", x1: xs.at(0), x2: xs.at(0), y1: 0, y2: height - 22 }));
    for (const tick of xs.ticks) canvas.append(drawn("text", { class: "tick", x: xs.at(tick), y: height - 6, "text-anchor": "middle", text: tickFigure(tick) }));
    rows.forEach((one, number) => {
      const y = tall * number + tall / 2, known = one.values.filter(Number.isFinite), mean = known.reduce((sum, value) => sum + value, 0) / known.length;
      one.row.label.split("\n").forEach((text, line) => canvas.append(drawn("text", { class: "tick", x: left - 8, y: y + 4 + 13 * line, "text-anchor": "end", text })));
      if (one.row.band) canvas.append(drawn("rect", { class: "wash", x: xs.at(one.row.band[0]), width: Math.max(0, xs.at(one.row.band[1]) - xs.at(one.row.band[0])), y: y - 14, height: 28 }));
      if (known.length) canvas.append(drawn("line", { class: "mean", x1: xs.at(mean), x2: xs.at(mean), y1: y - 15, y2: y + 15 }));
      one.values.forEach((value, place) => {
        if (!Number.isFinite(value)) return;
        const dot = drawn("circle", { cx: xs.at(value), cy: y + ((place * 7) % 13) - 6, r: 3.4, class: one.row.numbers[place] === part.ringed ? "dot ringed" : "dot",
          pointerover: () => figure.say([...(part.readouts[one.row.numbers[place]] || []), numberFigure(value)]) });
        dot.style.fill = inkColor(one.row.ink);
        canvas.append(dot);
      });
    });
  });
  return figure;
}

function drawPoints(part) {
  const x = Array.from(unpacked(part.x)), y = Array.from(unpacked(part.y));
  const canvas = drawn("svg", { role: "img", "aria-label": part.says || "points" }), sheet = make("div", { class: "plot" }, canvas);
  const said = (place) => (part.readouts ? part.readouts[place] : []);
  const figure = pictured(part.says || "points", sheet, () => ({ head: ["point", part.x_name, part.y_name],
    rows: x.map((value, place) => [said(place)[0] || String(place + 1), String(value), String(y[place])]) }));
  drawnToWidth(sheet, (width) => {
    const height = Math.min(420, width), xs = axisOf(x, false, PLOT_LEFT, width - PLOT_RIGHT), ys = axisOf(y, false, height - PLOT_BOTTOM, PLOT_TOP + 8);
    canvas.replaceChildren();
    canvas.setAttribute("width", width); canvas.setAttribute("height", height);
    frame(canvas, xs, ys, [part.x_name, part.y_name], width, height);
    x.forEach((value, place) => {
      if (!Number.isFinite(value) || !Number.isFinite(y[place])) return;
      const dot = drawn("circle", { cx: xs.at(value), cy: ys.at(y[place]), r: 3.2, class: place === part.ringed ? "dot ringed" : "dot",
        pointerover: () => figure.say([...said(place), part.x_name + " " + numberFigure(value), part.y_name + " " + numberFigure(y[place])]) });
      dot.style.fill = inkColor(part.inks.length ? part.inks[place] : "accent");
      canvas.append(dot);
    });
  });
  return figure;
}

// Parts of a circuit over the words, and the paths between them.
function drawGraph(part) {
  const canvas = drawn("svg", { role: "img", "aria-label": part.says || "graph" }), sheet = make("div", { class: "plot" }, canvas);
  const figure = pictured(part.says || "graph", sheet, () => ({ head: ["from", "to", "strength"],
    rows: [...part.nodes.map((node) => [node.name + place(node), "", node.value === null ? "–" : String(node.value)]),
      ...part.edges.map((edge) => [part.nodes[edge[0]].name + place(part.nodes[edge[0]]), part.nodes[edge[1]].name + place(part.nodes[edge[1]]), String(edge[2])])] }));
  function place(node) { return part.columns[node.column] === undefined ? "" : " at “" + part.columns[node.column] + "”"; }
  const largest = Math.max(1e-9, ...part.nodes.map((node) => Math.abs(node.value || 0))), widest = Math.max(1e-9, ...part.edges.map((edge) => Math.abs(edge[2])));
  const color = (value) => "var(--" + (value < 0 ? "fell" : "rose") + ")";
  drawnToWidth(sheet, (width) => {
    const left = width < 500 ? 44 : 90, step = 46, bottom = step * part.rows.length + 16, columns = Math.max(1, part.columns.length);
    const names = Math.min(120, 16 + 7 * Math.max(0, ...part.columns.map((name) => name.length)));
    const across = (width - left - 16) / columns, x = (node) => left + across * (node.column + 0.5), y = (node) => bottom - step * (node.row + 0.5);
    canvas.replaceChildren();
    canvas.setAttribute("width", width); canvas.setAttribute("height", bottom + names);
    part.rows.forEach((name, row) => canvas.append(drawn("text", { class: "tick", x: left - 8, y: bottom - step * (row + 0.5) + 4, "text-anchor": "end", text: name }),
      drawn("line", { class: "grid", x1: left, x2: width - 8, y1: bottom - step * row, y2: bottom - step * row })));
    part.columns.forEach((name, column) => {
      const at = left + across * (column + 0.5);
      const text = drawn("text", { class: "word", x: at, y: bottom + 14, "text-anchor": across > 60 ? "middle" : "end", text: name });
      if (across <= 60) text.setAttribute("transform", "rotate(-60 " + at + " " + (bottom + 14) + ")");
      canvas.append(text);
    });
    const beside = new Map();
    const shift = part.nodes.map((node) => { const key = node.column + " " + node.row, many = beside.get(key) || 0; beside.set(key, many + 1); return many; });
    const at = (number) => [x(part.nodes[number]) + (shift[number] % 2 ? 1 : -1) * Math.ceil(shift[number] / 2) * Math.min(16, across / 3), y(part.nodes[number])];
    for (const [sender, receiver, value] of part.edges) {
      const from = at(sender), to = at(receiver), middle = (from[1] + to[1]) / 2;
      const path = drawn("path", { class: "path", d: "M" + from + "C" + from[0] + " " + middle + " " + to[0] + " " + middle + " " + to, "stroke-width": 0.6 + 4 * Math.abs(value) / widest,
        pointerover: () => figure.say([part.nodes[sender].name + place(part.nodes[sender]) + " → " + part.nodes[receiver].name + place(part.nodes[receiver]), percentageFigure(value)]) });
      path.style.stroke = color(value);
      canvas.append(path);
    }
    part.nodes.forEach((node, number) => {
      const [cx, cy] = at(number), told = () => figure.say([node.name + place(node), node.said || (node.value === null ? "" : percentageFigure(node.value))]);
      const size = 4 + 11 * Math.sqrt(Math.abs(node.value || 0) / largest);
      const shape = node.kind === "layer" ? drawn("rect", { x: cx - size, y: cy - size, width: 2 * size, height: 2 * size }) : drawn("circle", { cx, cy, r: size });
      filled(shape, { class: "node " + node.kind, tabindex: 0, role: "img", "aria-label": node.name + place(node) + " " + (node.said || ""), pointerover: told, focus: told }, []);
      if (node.kind !== "word") shape.style.fill = color(node.value);
      canvas.append(shape);
    });
  });
  return figure;
}
