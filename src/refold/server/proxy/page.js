// Shows the figures of /stats, every two seconds; all text is set as text, never as markup.
"use strict";

const whole = (value) => value.toLocaleString("en");
const money = (value) => `$${value.toFixed(value < 1 ? 4 : 2)}`;
const share = (part, all) => (all ? `${Math.round((100 * part) / all)}%` : "–");
const milliseconds = (value) => (value === null ? "–" : `${value} ms`);

function ago(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s ago`;
  return seconds < 3600 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function link(session) {
  const made = element("a", session);
  made.href = `session/${encodeURIComponent(session)}`;
  return made;
}

function showTotals(stats) {
  const saved = stats.tokens_saved;
  const tiles = [
    ["requests", whole(stats.requests)],
    ["tokens saved", `${whole(saved)} (${share(saved, stats.tokens_before)})`],
    ["money saved", `${money(stats.money.saved)} of ${money(stats.money.before)}`],
    ["read from cache", share(stats.cache_read, stats.prompt_tokens)],
    ["added, median", milliseconds(stats.latency_ms.added_p50)],
    ["added, 99 %", milliseconds(stats.latency_ms.added_p99)],
    ["errors", whole(stats.errors)],
  ];
  const box = document.getElementById("totals");
  box.replaceChildren(...tiles.map(([label, value]) => {
    const tile = element("div", label);
    tile.prepend(element("b", value));
    return tile;
  }));
}

function showSessions(stats) {
  const rows = stats.sessions.map((s) => {
    const row = document.createElement("tr");
    const cells = [
      s.session, s.model, whole(s.requests), whole(s.tokens_before), whole(s.tokens_after),
      share(s.tokens_saved, s.tokens_before), share(s.cache_read, s.prompt_tokens),
      money(s.money_before), money(s.money_after), whole(s.retrievals), ago(stats.now - s.last_seen),
    ];
    row.append(...cells.map((text) => element("td", text)));
    if (stats.settings.show_content) row.cells[0].replaceChildren(link(s.session));
    return row;
  });
  document.getElementById("sessions").replaceChildren(...rows);
}

async function update() {
  const state = document.getElementById("state");
  try {
    const stats = await (await fetch("stats", { cache: "no-store" })).json();
    showTotals(stats);
    showSessions(stats);
    const faults = Object.entries(stats.faults).map(([kind, n]) => element("li", `${kind}: ${n}`));
    document.getElementById("faults").replaceChildren(...(faults.length ? faults : [element("li", "nothing")]));
    state.textContent = `${stats.active} requests under way`;
  } catch {
    state.textContent = "The proxy does not answer.";
  }
}

update();
setInterval(update, 2000);
