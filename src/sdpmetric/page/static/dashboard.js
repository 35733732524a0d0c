// The dashboard: asks the server every second and a half, draws what has changed.

const { path } = JSON.parse(document.body.dataset.study);
const EVERY = 1500;
const SVG = "http://www.w3.org/2000/svg";
const at = (name) => document.querySelector(`[data-${name}]`);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
let known = "";
let shown = "after";
let last = null;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
function setText(name, text) { const place = at(name); if (place.textContent !== text) place.textContent = text; }
function item(data, row, title) {
  if (data.shown !== "image") return element("span", { class: "word", title: data.names[row] }, data.names[row]);
  return element("img", { src: `${path}/media/${row}`, alt: title ?? data.names[row], title: data.names[row] });
}

function tiles({ answers, accuracy }) {
  setText("count", answers.count.toLocaleString("en"));
  const skipped = answers.skipped ? `, ${answers.skipped} “cannot tell”` : "";
  setText("rate", `${answers.per_minute.toFixed(answers.per_minute < 10 ? 1 : 0)} a minute${skipped}`);
  const most = Math.max(...answers.bars, 1);
  const bars = at("bars");
  bars.setAttribute("viewBox", `0 0 ${answers.bars.length * 5} 30`);
  bars.setAttribute("preserveAspectRatio", "none");
  bars.replaceChildren(...answers.bars.map((count, i) => drawn("rect", {
    x: 5 * i, width: 4, y: 30 - (28 * count) / most, height: (28 * count) / most + (count ? 0 : 0.6), rx: 1 })));
  if (!accuracy) return;
  const { learned, euclidean, ceiling } = accuracy;
  const range = ({ low, high }) => `${percent(low)} to ${percent(high)}`;
  setText("accuracy", percent(learned.accuracy));
  setText("interval", `${range(learned)}, of ${accuracy.n} random questions that it had not learned from`);
  setText("euclidean", percent(euclidean.accuracy));
  setText("euclidean-interval", `${range(euclidean)}, the same questions`);
  if (!ceiling) return;
  const low = ceiling.lower ?? ceiling.upper;
  setText("ceiling", `${Math.round(100 * low)}–${percent(ceiling.upper).replace(/\.\d/, "")}`);
  const who = accuracy.by === "participant" ? "Two people" : "Two answers of one person";
  setText("agreement", `${who} agree on ${percent(ceiling.agreement)} of ${ceiling.questions} questions asked again`);
}

function curve({ curve: points, accuracy }) {
  const svg = at("curve");
  const width = svg.clientWidth || 800;
  const [height, left, right, top, bottom] = [240, 46, 8, 8, 26];
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (!points.length) {
    svg.replaceChildren(drawn("text", { x: width / 2, y: height / 2, "text-anchor": "middle" },
      "The curve begins with ten answers to random questions."));
    return;
  }
  const ceiling = accuracy?.ceiling;
  const values = points.flatMap((p) => [p.low, p.high, p.euclidean]).concat(ceiling ? [ceiling.lower ?? 1, ceiling.upper] : []);
  const low = Math.max(0, Math.floor(10 * Math.min(...values)) / 10);
  const high = Math.min(1, Math.ceil(10 * Math.max(...values)) / 10);
  const [first, end] = [points[0].n, Math.max(points.at(-1).n, points[0].n + 1)];
  const x = (n) => left + ((width - left - right) * (n - first)) / (end - first);
  const y = (v) => top + ((height - top - bottom) * (high - v)) / (high - low || 1);
  const parts = [];
  for (let v = low; v <= high + 1e-9; v += 0.1) {
    parts.push(drawn("line", { class: "grid", x1: left, x2: width - right, y1: y(v), y2: y(v) }));
    parts.push(drawn("text", { x: left - 8, y: y(v) + 4, "text-anchor": "end" }, `${Math.round(100 * v)} %`));
  }
  if (ceiling) {
    const [a, b] = [y(ceiling.upper), y(ceiling.lower ?? ceiling.upper)];
    parts.push(drawn("rect", { class: "people", x: left, width: width - left - right, y: Math.min(a, b), height: Math.max(Math.abs(b - a), 2) }));
  }
  const line = (key) => points.map((p) => `${x(p.n).toFixed(1)},${y(p[key]).toFixed(1)}`);
  if (points.length > 1) {
    parts.push(drawn("polygon", { class: "band", points: [...line("high"), ...line("low").reverse()].join(" ") }));
  }
  parts.push(drawn("polyline", { class: "euclid", points: line("euclidean").join(" ") }));
  parts.push(drawn("polyline", { class: "learned", points: line("accuracy").join(" ") }));
  parts.push(drawn("circle", { class: "dot", r: 4, cx: x(points.at(-1).n), cy: y(points.at(-1).accuracy) }));
  parts.push(drawn("text", { x: left, y: height - 6 }, `${first} answers`));
  if (points.length > 1) parts.push(drawn("text", { x: width - right, y: height - 6, "text-anchor": "end" }, `${end} answers`));
  svg.replaceChildren(...parts);
}

function map(data) {
  const place = at("map");
  if (!data.map) { if (!place.childElementCount) place.replaceChildren(element("p", { class: "empty" }, "The map begins with the first answer.")); return; }
  if (place.dataset.count !== String(data.names.length)) {
    place.replaceChildren(...data.names.map((_, row) => item(data, row, "")));
    place.dataset.count = data.names.length;
    const side = Math.max(18, Math.min(48, 250 / Math.sqrt(data.names.length)));
    place.style.setProperty("--side", `${side}px`);
  }
  const [w, h] = [place.clientWidth / 2 - 26, place.clientHeight / 2 - 26];
  data.map[shown].forEach(([x, y], row) => {
    place.children[row].style.transform = `translate(${(x * w).toFixed(1)}px, ${(-y * h).toFixed(1)}px)`;
  });
}

function features({ features: list }) {
  const place = at("features");
  if (!list) { place.replaceChildren(element("p", { class: "empty" }, "Known after the first answer.")); return; }
  const most = Math.max(...list.flatMap((f) => [f.weight, f.euclidean]));
  place.replaceChildren(...list.map((f) => {
    const bar = element("span", { class: "bar" }, element("i"), element("b"));
    bar.children[0].style.width = `${(100 * f.weight) / most}%`;
    bar.children[1].style.left = `calc(${(100 * f.euclidean) / most}% - 1px)`;
    return element("div", { class: "feature" }, element("span", { title: f.name }, f.name), bar,
      element("span", { class: "number" }, percent(f.weight)));
  }));
}

function neighbours(data) {
  const place = at("neighbours");
  if (!data.neighbours) { place.replaceChildren(element("p", { class: "empty" }, "Known after the first answer.")); return; }
  const head = element("div", { class: "row head" }, element("span", {}, "Item"), element("span", {}, "Before"), element("span", {}, "After"));
  place.replaceChildren(head, ...data.neighbours.map((one) => {
    const set = (rows, other) => element("span", { class: "set" }, ...rows.map((row) => {
      const shown = item(data, row);
      if (other.includes(row)) shown.classList.add("same");
      return shown;
    }));
    return element("div", { class: "row" }, item(data, one.item), set(one.before, one.after), set(one.after, one.before));
  }));
}

function certificate({ certificate: c, learned_from: n }) {
  const place = at("certificate");
  if (!c) { place.replaceChildren(element("dd", {}, "There is no fit yet.")); return; }
  const fact = (name, value) => [element("dt", {}, name), element("dd", {}, value)];
  const verdict = c.converged ? `Certified: the relative gap is below ${c.tol}`
    : `Not certified yet: the relative gap is above ${c.tol}`;
  place.replaceChildren(
    element("dd", { class: c.converged ? "verdict" : "verdict not" }, verdict),
    ...fact("Answers learned from", n.toLocaleString("en")),
    ...fact("Objective", c.objective.toFixed(5)), ...fact("Upper bound", c.upper_bound.toFixed(5)),
    ...fact("Relative gap", c.gap.toExponential(2)), ...fact("Weight of the prior", percent(c.prior_weight)),
    ...fact("Time of the last fit", `${(1000 * c.seconds).toFixed(0)} ms`));
}

function ago(seconds) {
  if (seconds < 10) return "now";
  if (seconds < 90) return `${seconds} s ago`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}
function people({ people: list, links }) {
  const rows = list.map((p) => element("tr", {}, element("td", {}, p.name), element("td", {}, `${p.answered} of ${p.target}`),
    element("td", {}, `${p.skipped}`), element("td", {}, p.catch[1] ? `${p.catch[0]} of ${p.catch[1]}` : "–"), element("td", {}, ago(p.seconds_ago))));
  at("people").replaceChildren(...(rows.length ? rows : [element("tr", {}, element("td", { colspan: 5 }, "No one has answered yet."))]));
  if (!links.length || at("links").childElementCount) return;
  const base = path.replace(/\/dashboard$/, "");
  at("links").append(element("details", {}, element("summary", {}, `Links of ${links.length} participants`),
    element("ul", {}, ...links.map((l) => element("li", {}, element("a", { href: base + l.path }, l.name))))));
}

function draw(data) { for (const part of [tiles, curve, map, features, neighbours, certificate, people]) part(data); }

async function ask() {
  try {
    const reply = await fetch(`${path}/data?known=${encodeURIComponent(known)}`);
    if (reply.status === 403) { document.querySelector(".alive").textContent = "Signed out"; return; }
    const data = await reply.json();
    if (data.number !== known) { known = data.number; last = data; draw(data); }
    document.querySelector(".alive").textContent = "Live";
  } catch { document.querySelector(".alive").textContent = "No connection: trying again"; }
  setTimeout(ask, EVERY);
}

for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => {
    shown = button.dataset.show;
    for (const other of document.querySelectorAll("[data-show]")) other.setAttribute("aria-pressed", other === button);
    if (last) map(last);
  });
}
addEventListener("resize", () => { if (last) draw(last); });
ask();
