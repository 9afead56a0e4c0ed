// The report: the conversation as the model reads it, and a list of its messages with one of them
// before and after, at the budget that is chosen. Text is only ever put into text nodes.

const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (char) => char.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const data = JSON.parse(await new Response(unpacked).text());
const { messages, steps, strings, actions, prices } = data;
const written = []; // every text once, by its number
for (const [at, text] of data.texts) written[at] = text;
for (const message of messages) message.texts = message.texts.map((at) => written[at]);
for (const { rows, view } of steps) {
  for (const turn of view) if (turn.x) turn.x = turn.x.map((at) => written[at]);
  for (const text of rows.flatMap((row) => row.x)) {
    for (const key of ["o", "c"]) if (key in text) text[key] = written[text[key]];
  }
}
const ROW_PX = 72;
const SPARE_ROWS = 6; // drawn above and below what can be seen
const MAX_CHARS = 40_000; // of a text that is shown at once
const MAX_RUNS = 400; // of a text's pieces, and of their list
const CLIPPED = "clipped"; // what was done to calls: all else is done to texts
const MAX_FOUND = 1_000; // places that are marked
const CHUNK = 100; // messages of the view that are drawn at once

const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en").format;
const list = $("list"), rows = $("rows"), detail = $("detail"), search = $("search");
const view = $("view"), panes = $("panes");
const filters = ["role", "kind", "tool", "decision"].map($);

const mostTokens = messages.reduce((most, message) => Math.max(most, message.tokens), 1);

const state = { step: data.start, places: [], at: 0, wanted: "", isReading: true };
const now = () => steps[state.step].rows;

/** Make an element: its class, and what it holds (texts and other elements). */
function make(tag, className = "", ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

const percentSaved = (before, after) => {
  const share = before ? 100 * (1 - after / before) : 0;
  const sign = share > 0 ? "−" : share < 0 ? "+" : "";
  return `${sign}${Math.abs(share).toFixed(Math.abs(share) < 10 ? 1 : 0)} %`;
};

const word = (action) => actions[action] ?? action;

// ---- money

function costOf([, rate, longTokens, longRate], tokens) {
  return (tokens * (longTokens !== null && tokens > longTokens ? longRate : rate)) / 1e6;
}

const dollars = (usd) => `$${usd >= 1 ? usd.toFixed(2) : usd >= 0.01 ? usd.toFixed(3) : usd.toFixed(4)}`;

function drawMoney() {
  const { tokens } = steps[state.step];
  $("prices").replaceChildren(...prices.models.map((price) => {
    const [before, after] = [costOf(price, data.tokens), costOf(price, tokens)];
    const name = make("th", "", price[0]);
    name.scope = "row";
    const cells = [String(price[1]), dollars(before), dollars(after), dollars(before - after)];
    return make("tr", prices.own.includes(price[0]) ? "own" : "", name, ...cells.map((cell) => make("td", "", cell)));
  }));
  $("money-note").textContent =
    `The whole conversation sent once as input, without prompt caching and without the answer: `
    + `${number(data.tokens)} tokens before, ${number(tokens)} after. List prices as of ${prices.date} `
    + `from ${prices.source}. Each model counts tokens in its own way, so actual costs differ somewhat.`;
}

// ---- totals and budget

function drawTotals() {
  const step = steps[state.step];
  $("before").textContent = number(data.tokens);
  $("after").textContent = number(step.tokens);
  $("saved").textContent = percentSaved(data.tokens, step.tokens);
  const first = prices.models[0];
  if (first) {
    $("cost-label").textContent = `One request, ${first[0]}`;
    $("cost").textContent = `${dollars(costOf(first, data.tokens))} → ${dollars(costOf(first, step.tokens))}`;
  }
  const note = step.note ? step.note
    : step.budget === null ? "No budget: only what a fold always does."
    : step.fits ? `Fits ${number(step.budget)} tokens.` : `Does not fit ${number(step.budget)} tokens.`;
  const isMerged = step.count !== messages.length;
  const merged = isMerged ? ` ${number(messages.length)} messages became ${number(step.count)}.` : "";
  $("budget-note").textContent = note + merged;
  $("budget").setAttribute("aria-valuetext", `${step.label}: ${number(step.tokens)} tokens`);
  [...$("ticks").children].forEach((tick, place) => tick.classList.toggle("now", place === state.step));
}

function chooseStep(place) {
  state.step = Math.min(Math.max(place, 0), steps.length - 1);
  $("budget").value = state.step;
  fillSelect("decision", messages.map((_, place) => [word(now()[place].a)]));
  drawTotals();
  drawMoney();
  filter();
  if (steps.length > 1) say(`Budget ${steps[state.step].label}: ${number(steps[state.step].tokens)} tokens`);
}

// ---- overview: one bar a message, or a column of them

function drawOverview() {
  const canvas = $("overview"), scale = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || !height) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const colour = (element) => getComputedStyle(element).color;
  const fills = [...document.querySelectorAll(".swatch")].map(colour); // before, after
  const columns = sumColumns(Math.min(messages.length, Math.floor(width / 2)) || 1);
  const highest = columns.reduce((most, [tokens]) => Math.max(most, tokens), 1);
  const step = width / columns.length, thick = Math.max(1, Math.min(step - 1, 14));
  columns.forEach((sums, place) => sums.forEach((tokens, side) => {
    const high = Math.max(tokens ? 1 : 0, (height - 2) * (tokens / highest));
    context.fillStyle = fills[side];
    context.fillRect(place * step, height - high, thick, high);
  }));
  const chosen = state.isReading ? undefined : state.places[state.at];
  if (chosen !== undefined) {
    context.fillStyle = colour(canvas);
    context.fillRect((chosen / messages.length) * width, 0, 2, height);
  }
}

/** Return the tokens before and after of all messages, summed up in so many columns. */
function sumColumns(count) {
  const sums = Array.from({ length: count }, () => [0, 0]);
  messages.forEach((message, place) => {
    const sum = sums[Math.floor((place * count) / messages.length)];
    sum[0] += message.tokens;
    sum[1] += now()[place].t;
  });
  return sums;
}

// ---- filters

function fillSelect(id, valuesOf) {
  const select = $(id), chosen = select.value, counts = new Map();
  valuesOf.forEach((values) => new Set(values).forEach((value) => counts.set(value, (counts.get(value) ?? 0) + 1)));
  const all = make("option", "", "all");
  all.value = "";
  const options = [...counts].sort((a, b) => b[1] - a[1]).map(([value, count]) => {
    const option = make("option", "", `${value} (${number(count)})`);
    option.value = value;
    return option;
  });
  select.replaceChildren(all, ...options);
  select.value = counts.has(chosen) ? chosen : "";
}

let lowered = null; // the texts of each message in lower case, made for the first search
function contains(place, wanted) {
  lowered ??= messages.map((m) => [...m.texts, ...m.calls.flat()].join("\n").toLowerCase());
  return lowered[place].includes(wanted)
    || now()[place].x.some((text) => text.o !== undefined && text.o.toLowerCase().includes(wanted));
}

function filter() {
  const [role, kind, tool, decision] = filters.map((select) => select.value);
  const wanted = search.value.trim().toLowerCase();
  const chosen = state.places[state.at];
  state.wanted = wanted;
  state.places = [];
  messages.forEach((message, place) => {
    if (role && message.role !== role) return;
    if (kind && message.kind !== kind) return;
    if (tool && !message.tools.includes(tool)) return;
    if (decision && word(now()[place].a) !== decision) return;
    if (wanted && !contains(place, wanted)) return;
    state.places.push(place);
  });
  const all = messages.length, some = state.places.length;
  if (!state.isReading) $("shown").textContent = some === all ? `${number(all)} messages` : `${number(some)} of ${number(all)} messages`;
  rows.style.height = `${some * ROW_PX}px`;
  const again = state.places.indexOf(chosen);
  choose(again >= 0 ? again : 0, { force: true });
  drawView();
}

// ---- the conversation as the model reads it

let pending = []; // messages of the view that are to be drawn
const more = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && drawChunk(), { root: null });

/** Return the texts and calls of a message of the view. */
function readTurn(turn) {
  const message = messages[turn.i];
  return turn.x ? { texts: turn.x, calls: turn.c } : message;
}

function drawView() {
  const wanted = state.wanted;
  pending = steps[state.step].view.filter((turn) => {
    if (!wanted) return true;
    const { texts, calls } = readTurn(turn);
    return [...texts, ...calls.flat()].join("\n").toLowerCase().includes(wanted);
  });
  if (state.isReading) {
    const all = steps[state.step].view.length, some = pending.length;
    $("shown").textContent = `${some === all ? "" : `${number(some)} of `}${number(all)} messages`;
  }
  view.replaceChildren();
  if (pending.length) drawChunk();
  else view.append(make("p", "nothing", messages.length ? "No message matches." : "This conversation has no messages."));
}

function drawChunk() {
  more.disconnect();
  view.append(...pending.splice(0, CHUNK).map(drawTurn));
  if (pending.length) more.observe(view.lastElementChild);
  if (state.isReading) highlight();
}

function drawTurn(turn) {
  const [first, last] = turn.p, message = messages[turn.i], { texts, calls } = readTurn(turn);
  const number_ = make("button", "n", first === last ? `#${first}` : `#${first}–${last}`);
  number_.type = "button";
  number_.title = "Before and after";
  number_.addEventListener("click", () => openPanes(turn.i));
  const heading = make("h2", "", number_, " ", drawRole(turn.r));
  if (message.tools.length && first === last) heading.append(make("span", "tools", ` ${message.tools.join(", ")}`));
  const tokens = turn.x ? `${number(turn.b)} → ${number(turn.t)}` : number(turn.t);
  const did = turn.x ? make("span", "what changed", first === last ? word(now()[turn.i].a) : `${number(last - first + 1)} messages`) : "";
  heading.append(make("span", "tokens", `${tokens} tokens `, did));
  const section = make("section", `turn${turn.x ? " changed" : ""}`, heading);
  section.tabIndex = -1;
  section.dataset.place = turn.i;
  if (message.thinking && first === last) section.append(make("p", "why", "(thinking)"));
  texts.forEach((text, place) => text.trim() && section.append(drawBody(text, place ? 0 : turn.m ?? 0, Boolean(turn.x))));
  if (message.images && first === last) section.append(make("p", "why", message.images === 1 ? "(1 picture)" : `(${message.images} pictures)`));
  section.append(...drawCalls({ calls }));
  return section;
}

/** Show a text as the model gets it; its mark and its gaps are dimmed. */
function drawBody(text, mark, isFolded) {
  const body = make("pre"), rest = cut(text).slice(mark);
  if (mark) body.append(make("span", "sign", text.slice(0, mark)));
  if (!isFolded) body.append(rest);
  else rest.split(/((?:^|\n)…(?: \d+ (?:line|word|character)s? …)?)/).forEach((piece, place) => {
    if (piece) body.append(place % 2 ? make("span", "sign", piece) : piece);
  });
  return body;
}

/** Move to the next or previous message of the view, or to one that changed. */
function moveTurn(direction, selector = ".turn") {
  const turns = [...view.querySelectorAll(selector)], top = view.getBoundingClientRect().top;
  const below = turns.map((turn) => turn.getBoundingClientRect().top - top);
  const at = direction > 0 ? below.findIndex((px) => px > 5) : below.findLastIndex((px) => px < -5);
  turns[at]?.scrollIntoView({ block: "start" });
}

function openPanes(place) {
  showTab(false);
  const at = state.places.indexOf(place);
  choose(at < 0 ? 0 : at, { force: true });
  list.focus({ preventScroll: true });
}

function showTab(isReading) {
  state.isReading = isReading;
  view.hidden = !isReading;
  panes.hidden = isReading;
  document.body.classList.toggle("reading", isReading);
  for (const [id, isChosen] of [["tab-view", isReading], ["tab-panes", !isReading]]) {
    $(id).setAttribute("aria-selected", String(isChosen));
    $(id).tabIndex = isChosen ? 0 : -1;
  }
  filter();
}

// ---- the list

const drawn = new Map();

function drawRows({ anew = false } = {}) {
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_PX) - SPARE_ROWS);
  const last = Math.min(state.places.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW_PX) + SPARE_ROWS);
  for (const [place, row] of drawn) {
    if (anew || place < first || place >= last) {
      row.remove();
      drawn.delete(place);
    }
  }
  const fresh = [];
  for (let place = first; place < last; place++) {
    if (drawn.has(place)) continue;
    const row = drawRow(place);
    drawn.set(place, row);
    fresh.push(row);
  }
  rows.append(...fresh);
  mark();
}

function drawRow(place) {
  const index = state.places[place], message = messages[index], after = now()[index];
  const row = make("div", "row");
  row.id = `row-${place}`;
  row.setAttribute("role", "option");
  row.setAttribute("aria-posinset", place + 1);
  row.setAttribute("aria-setsize", state.places.length);
  row.style.top = `${place * ROW_PX}px`;
  const who = make("span", "who", make("span", "n", `#${message.n}`), drawRole(message.role));
  if (message.tools.length) who.append(make("span", "tools", ` ${message.tools.join(", ")}`));
  const what = make("span", `what${after.a === "preserved" ? "" : " changed"}`, word(after.a));
  const bar = make("span", "bar", make("i"), make("b"));
  bar.setAttribute("aria-hidden", "true");
  bar.children[0].style.width = `${(100 * message.tokens) / mostTokens}%`;
  bar.children[1].style.width = `${(100 * after.t) / mostTokens}%`;
  const tokens = message.tokens === after.t ? number(after.t) : `${number(message.tokens)} → ${number(after.t)}`;
  row.append(who, what, make("span", "words", beginning(message)), bar, make("span", "tokens", `${tokens} tokens`));
  row.addEventListener("click", () => { choose(place); list.focus({ preventScroll: true }); });
  return row;
}

const ROLES = ["system", "user", "assistant", "tool"];

function drawRole(role) {
  return make("span", `role ${ROLES.includes(role) ? role : ""}`, role);
}

function beginning(message) {
  const text = message.texts.find((text) => text.trim()) ?? message.calls[0]?.join(" ") ?? "";
  return text.slice(0, 300).trim().replace(/\s+/g, " ").slice(0, 160) || "–";
}

function mark() {
  for (const [place, row] of drawn) row.setAttribute("aria-selected", String(place === state.at));
  if (drawn.has(state.at)) list.setAttribute("aria-activedescendant", `row-${state.at}`);
  else list.removeAttribute("aria-activedescendant");
}

function choose(place, { force = false } = {}) {
  const last = state.places.length - 1;
  const at = Math.min(Math.max(place, 0), Math.max(last, 0));
  if (at === state.at && !force) return;
  state.at = at;
  const top = at * ROW_PX;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_PX > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_PX - list.clientHeight;
  drawRows({ anew: force });
  drawDetail();
  drawOverview();
}

function chooseChanged(direction) {
  for (let at = state.at + direction; at >= 0 && at < state.places.length; at += direction) {
    if (now()[state.places[at]].a !== "preserved") return choose(at);
  }
}

// ---- one message

function drawDetail() {
  const index = state.places[state.at];
  if (index === undefined) {
    const why = messages.length ? "No message matches." : "This conversation has no messages.";
    detail.replaceChildren(make("p", "nothing", why));
    return;
  }
  const message = messages[index], after = now()[index];
  const tools = message.tools.length ? ` · ${message.tools.join(", ")}` : "";
  const meta = ` · ${message.kind} · ${number(message.tokens)} → ${number(after.t)} tokens`;
  const parts = [
    make("h2", "", `#${message.n} `, drawRole(message.role), tools),
    make("p", "meta", make("b", "", word(after.a)), meta),
  ];
  if (after.g) {
    const [first, last] = after.g;
    const words = `#${first} to #${last} became one message. Below is its part about this one.`;
    parts.push(make("p", "group", words));
  }
  after.x.forEach((text, place) => parts.push(...drawText(message, after, text, place)));
  if (!after.g && !after.x.some((text) => text.a === CLIPPED)) parts.push(...drawCalls(message));
  const extras = [];
  if (message.thinking) extras.push(`${number(message.thinking)} tokens of thinking`);
  if (message.images) extras.push(message.images === 1 ? "1 picture" : `${message.images} pictures`);
  if (extras.length) parts.push(make("p", "why", `Also: ${extras.join(", ")}.`));
  detail.replaceChildren(...parts);
  detail.scrollTop = 0;
  highlight();
}

function drawText(message, after, text, place) {
  const isCalls = text.a === CLIPPED;
  const original = isCalls ? message.calls.map((call) => call.join(" ")).join("\n") : message.texts[place] ?? "";
  const name = isCalls ? "Calls" : `Text ${place + 1}`;
  const heading = after.x.length > 1 ? [make("h3", "", `${name}: ${word(text.a)}`)] : [];
  const sums = (text.s ?? []).map((line) => make("div", "", line));
  const parts = [...heading, make("div", "why", make("b", "", capital(strings[text.r])), ...sums)];
  if (text.o === undefined) {
    if (original) parts.push(make("div", "sides alone", side("Original, kept as it is", drawRuns(original, null))));
    return parts;
  }
  const cutText = text.c ?? original; // a text may be reformatted before it is cut
  const title = text.c === undefined ? "Original" : "Original, reformatted before the cut";
  const left = original ? [drawRuns(cutText, text.l)] : [];
  if (after.g && place === after.x.length - 1) left.push(...drawCalls(message));
  const right = text.o ? drawRuns(text.o, text.f, true) : make("p", "nothing", "Nothing of it is left.");
  parts.push(make("div", "sides", side(title, ...left), side("Folded", right)));
  const reasons = drawReasons(cutText, text.l);
  if (reasons) parts.push(reasons);
  if (text.c !== undefined) parts.push(unfold("The original as it was", drawRuns(original, null)));
  return parts;
}

const unfold = (title, content) => make("details", "", make("summary", "", title), content);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const side = (title, ...content) => make("div", "side", make("h3", "", title), ...content);

function drawCalls(message) {
  return message.calls.map(([name, input]) => make("pre", "call", make("b", "", name), ` ${cut(input)}`));
}

const cut = (text) => (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)} …` : text);

/** Show a text with its runs marked; of a long one the beginning, and all of it on demand. */
function drawRuns(text, runs, isFolded = false, limits = { chars: MAX_CHARS, runs: MAX_RUNS }) {
  const box = make("div"), body = make("pre"), marked = runs ?? [];
  let start = 0;
  for (let at = 0; at < marked.length && start < limits.chars && at < 3 * limits.runs; at += 3) {
    const piece = text.slice(start, Math.min(start + marked[at], limits.chars));
    body.append(drawRun(piece, marked[at + 1] === 1, strings[marked[at + 2]], isFolded));
    start += piece.length;
  }
  if (!marked.length) {
    const beginning = text.slice(0, limits.chars);
    body.append(beginning);
    start = beginning.length;
  }
  box.append(body);
  if (start < text.length) {
    const more = make("button", "more", `Show all ${number(text.length)} characters`);
    more.type = "button";
    more.addEventListener("click", () => {
      box.replaceWith(drawRuns(text, runs, isFolded, { chars: Infinity, runs: Infinity }));
      detail.focus();
      highlight();
    });
    box.append(more);
  }
  return box;
}

function drawRun(piece, isKept, why, isFolded) {
  if (isFolded && !isKept) return make("span", why === "notation" ? "sign" : "", piece);
  const element = make(isKept ? "mark" : "del", "", piece);
  if (why) element.title = why;
  return element;
}

/** List why each piece was kept or dropped, if that is known. */
function drawReasons(text, runs) {
  if (!runs.some((value, at) => at % 3 === 2 && strings[value])) return null;
  const items = [];
  let start = 0;
  for (let at = 0; at < runs.length && items.length < MAX_RUNS; at += 3) {
    const words = text.slice(start, start + Math.min(runs[at], 400)).trim().replace(/\s+/g, " ");
    start += runs[at];
    if (words) items.push(drawReason(runs[at + 1] === 1, strings[runs[at + 2]], words.slice(0, 120)));
  }
  return unfold(`Why, piece by piece (${number(items.length)})`, make("ol", "", ...items));
}

function drawReason(isKept, why, words) {
  const verdict = make("span", "", isKept ? "kept" : "dropped");
  return make("li", isKept ? "kept" : "gone", verdict, make("span", "", why), make("code", "", words));
}

/** Mark what was searched for; the text itself stays as it is. */
function highlight() {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete("found");
  if (state.wanted) CSS.highlights.set("found", new Highlight(...findRanges(state.wanted)));
}

function findRanges(wanted) {
  const ranges = [];
  const walker = document.createTreeWalker(state.isReading ? view : detail, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()) && ranges.length < MAX_FOUND;) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue; // a letter that is longer in lower case
    let at = text.indexOf(wanted);
    while (at >= 0 && ranges.length < MAX_FOUND) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
      at = text.indexOf(wanted, at + wanted.length);
    }
  }
  return ranges;
}

// ---- keys, theme, start

function say(text) {
  $("spoken").textContent = text;
}

const page = () => Math.max(1, Math.floor(list.clientHeight / ROW_PX) - 1);
const moves = {
  ArrowDown: () => choose(state.at + 1),
  ArrowUp: () => choose(state.at - 1),
  PageDown: () => choose(state.at + page()),
  PageUp: () => choose(state.at - page()),
  Home: () => choose(0),
  End: () => choose(state.places.length - 1),
  Enter: () => detail.focus(),
};
const shortcuts = {
  j: () => (state.isReading ? moveTurn(1) : choose(state.at + 1)),
  k: () => (state.isReading ? moveTurn(-1) : choose(state.at - 1)),
  n: () => (state.isReading ? moveTurn(1, ".turn.changed") : chooseChanged(1)),
  p: () => (state.isReading ? moveTurn(-1, ".turn.changed") : chooseChanged(-1)),
  v: () => { showTab(!state.isReading); (state.isReading ? view : list).focus(); },
  "[": () => chooseStep(state.step + 1),
  "]": () => chooseStep(state.step - 1),
  "/": () => search.focus(),
  "?": () => $("keys").showModal(),
};

list.addEventListener("keydown", (event) => {
  const move = event.ctrlKey || event.metaKey || event.altKey ? null : moves[event.key];
  if (!move) return;
  event.preventDefault();
  move();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) (state.isReading ? view : list).focus();
  const isTyping = event.target.matches("input[type=search], select") || document.querySelector("dialog[open]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(shortcuts, event.key)) return;
  event.preventDefault();
  shortcuts[event.key]();
});

const THEMES = [["auto", "light dark"], ["light", "light"], ["dark", "dark"]];
let theme = 0;
$("theme").addEventListener("click", () => {
  theme = (theme + 1) % THEMES.length;
  const [name, scheme] = THEMES[theme];
  document.documentElement.style.colorScheme = scheme;
  $("theme").textContent = `Theme: ${name}`;
  drawOverview();
});

let timer = 0;
search.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(filter, 120);
});
filters.forEach((select) => select.addEventListener("change", filter));
document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
document.querySelector(".filters").addEventListener("reset", () => setTimeout(filter));
$("budget").addEventListener("input", (event) => chooseStep(Number(event.target.value)));
$("money-open").addEventListener("click", () => $("money").showModal());
$("keys-open").addEventListener("click", () => $("keys").showModal());
list.addEventListener("scroll", () => drawRows(), { passive: true });
$("overview").addEventListener("click", (event) => {
  const place = Math.floor((event.offsetX / event.target.clientWidth) * messages.length);
  if (state.isReading) {
    const turn = steps[state.step].view.findLastIndex((one) => one.i <= place);
    while (pending.length && view.children.length <= turn) drawChunk();
    view.children[turn]?.scrollIntoView({ block: "start" });
    return;
  }
  const at = state.places.findIndex((one) => one >= place);
  choose(at < 0 ? state.places.length - 1 : at);
});
new ResizeObserver(() => { drawRows(); drawOverview(); }).observe(list);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawOverview);

$("about").textContent = `${number(messages.length)} messages · ${data.profile} profile · tokens ${data.counted}`;
$("budget").max = steps.length - 1;
document.querySelector(".budget").classList.toggle("alone", steps.length < 2);
$("steps").append(...steps.map((step, place) => {
  const option = make("option");
  option.value = place;
  option.label = step.label;
  return option;
}));
$("ticks").append(...steps.map((step) => make("span", "", step.label)));
fillSelect("role", messages.map((message) => [message.role]));
fillSelect("kind", messages.map((message) => [message.kind]));
fillSelect("tool", messages.map((message) => message.tools));
for (const [id, isReading] of [["tab-view", true], ["tab-panes", false]]) {
  $(id).addEventListener("click", () => showTab(isReading));
  $(id).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    showTab(!state.isReading);
    $(state.isReading ? "tab-view" : "tab-panes").focus();
  });
}
document.body.classList.add("reading");
if (steps.length) chooseStep(state.step);
performance.mark("ready");
document.documentElement.dataset.ready = "true";
