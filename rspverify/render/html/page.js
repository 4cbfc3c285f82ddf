"use strict";
// Texts are only ever set as text: nothing that a file holds becomes markup here.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector, within = document) => within.querySelector(selector);
const make = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
document.documentElement.classList.add("js");

// ---- filters ----
const text = one("#text"), word = one("#word"), count = one("#count");
const rows = all(".matrix tbody tr:not(.folder)");
const words = row => [...row.cells].slice(1).flatMap(cell => cell.firstChild ? cell.className.split(" ") : []);
const hay = new Map();
const hayOf = row => {
  if (!hay.has(row)) {
    const reasons = [...row.cells].map(cell => cell.title + " " + cell.textContent).join(" ");
    hay.set(row, (row.parentNode.rows[0].textContent + " " + reasons).toLowerCase());
  }
  return hay.get(row);
};
const filter = () => {
  const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const fits = (!word.value || words(row).includes(word.value))
      && (!wanted.length || wanted.every(each => hayOf(row).includes(each)));
    if (row.hidden === fits) row.hidden = !fits;
    shown += fits;
  }
  for (const body of all(".matrix tbody")) body.hidden = ![...body.rows].some((row, i) => i && !row.hidden);
  for (const button of all("#totals button")) button.setAttribute("aria-pressed", button.value === word.value);
  count.textContent = shown === rows.length ? "" : `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} ${one("#tools").dataset.noun}`;
};
for (const item of all("#totals li")) {
  const { word: textContent, kind: value } = item.dataset;
  word.append(make("option", { value, textContent }));
  const button = make("button", { type: "button", value, title: "only those with this" }, ...item.childNodes);
  button.addEventListener("click", () => { word.value = word.value === value ? "" : value; filter(); });
  item.append(button);
}
let waiting = 0;
text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, rows.length > 5000 ? 250 : 30); });
word.addEventListener("change", filter);
one("#tools").hidden = !rows.length;

// ---- sorting: within folders, and folders by their first test; what is empty comes last ----
const order = ["ERROR", "SURVIVES", "WORSE", "UNSOUND", "by-UNSOUND", "STUCK", "by-STUCK", "UNKNOWN", "VACUOUS", "UNSUPPORTED",
  "BETTER", "RACY", "racy", "SOUND", "SAME"];
const rank = cell => cell.firstChild
  ? Math.min(...cell.className.split(" ").map(each => (order.indexOf(each) + 1) || 99)) : "";
const number = text => Number(text.replaceAll(",", "").replace("−", "-"));
const keyOf = (rows, column) => {
  const cells = rows.map(row => row.cells[column]), texts = cells.map(cell => cell.textContent).filter(Boolean);
  if (cells.some(cell => cell.firstChild && rank(cell) < 99)) return row => rank(row.cells[column]);
  if (texts.every(text => !isNaN(number(text)))) return row => row.cells[column].textContent && number(row.cells[column].textContent);
  return row => row.cells[column].textContent;
};
const compared = (a, b, sign) => (a === "") - (b === "")
  || sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
for (const table of all(".matrix")) {
  const heads = [...table.tHead.rows[0].cells], given = [...table.tBodies].map(body => [body, [...body.rows]]);
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", title: "sort" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      for (const each of heads) each.removeAttribute("aria-sort");
      const now = was === "ascending" ? "descending" : was === "descending" ? "" : "ascending";
      if (now) head.setAttribute("aria-sort", now);
      const sign = now === "descending" ? -1 : 1;
      const key = keyOf(given.flatMap(([, [, ...tests]]) => tests), column);
      const groups = given.map(([body, [title, ...tests]]) => {
        const keyed = tests.map(row => [key(row), row]);
        if (now) keyed.sort((a, b) => compared(a[0], b[0], sign));
        body.append(title, ...keyed.map(each => each[1]));
        return [column ? keyed[0][0] : title.textContent, body];
      });
      if (now) groups.sort((a, b) => compared(a[0], b[0], sign));
      table.append(...groups.map(each => each[1]));
    });
  });
}

// ---- the matrix by keyboard: one cell is in the order of Tab, arrows move, Enter opens ----
const said = one("#said");
const stop = cell => one("a", cell) || cell;
const tell = cell => {
  const row = cell.parentNode, head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  said.textContent = `${row.cells[0].textContent} under ${head.textContent}: ${cell.textContent}`
    + (cell.title ? `\n${cell.title}` : "");
  said.hidden = false;
};
const enter = (from, to) => {
  if (!to) return;
  if (from) stop(from).tabIndex = -1;
  stop(to).tabIndex = 0;
  stop(to).focus();
};
for (const table of all(".matrix")) {
  for (const link of all("td a", table)) link.tabIndex = -1;
  const first = one("tbody td", table);
  if (first) stop(first).tabIndex = 0;
  table.addEventListener("focusin", event => { const cell = event.target.closest("td"); if (cell) tell(cell); });
  table.addEventListener("focusout", () => { said.hidden = true; });
  table.addEventListener("click", event => {
    const cell = event.target.closest("tbody td");
    if (cell && cell.firstChild && !event.target.closest("a")) enter(one('td[tabindex="0"]', table), cell);
  });
  table.addEventListener("keydown", event => {
    const cell = event.target.closest("td");
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key], down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (across) enter(cell, cell.parentNode.cells[cell.cellIndex + across]?.closest("td"));
    else if (down) {
      const open = [...table.rows].filter(row => !row.hidden && !row.parentNode.hidden && row.cells.length > cell.cellIndex && one("td", row));
      enter(cell, open[open.indexOf(cell.parentNode) + down]?.cells[cell.cellIndex]);
    } else if (event.key === "Home" || event.key === "End") {
      enter(cell, event.key === "Home" ? cell.parentNode.cells[1] : cell.parentNode.lastElementChild);
    } else return;
    event.preventDefault();
  });
}

// ---- an execution, step by step ----
const play = (trace, place, source) => {
  const steps = [...trace.tBodies[0].rows], heads = [...trace.tHead.rows[0].cells].slice(3);
  const button = (sign, label) => make("button", { type: "button", textContent: sign, title: label, ariaLabel: label });
  const [first, back, on, last] = [["|◀", "first"], ["◀", "back"], ["▶", "next"], ["▶|", "last"]].map(each => button(...each));
  const slider = make("input", { type: "range", min: 0, max: steps.length - 1, value: 0, ariaLabel: "step" });
  const words = make("p", { className: "said", ariaLive: "polite" }), cards = make("div", { className: "cards" });
  let now = 0;
  const show = step => {
    now = Math.max(0, Math.min(steps.length - 1, step));
    slider.value = now;
    const row = steps[now], [, by, what] = row.cells;
    words.replaceChildren(
      make("b", { textContent: now ? `Step ${now} of ${steps.length - 1}` : `Before the first of ${steps.length - 1} steps` }),
      now ? ` ${by.textContent}: ` : "", now ? make("code", { textContent: what.textContent }) : "",
      row.dataset.line ? ` (line ${row.dataset.line})` : "");
    cards.replaceChildren(...heads.map((head, number) => {
      const cell = row.cells[number + 3];
      const inner = make("div", {}, ...[...cell.children].map(each => each.cloneNode(true)));
      return make("div", { className: `card ${cell.className}` }, make("h5", { textContent: head.textContent }), inner);
    }));
    for (const each of steps) each.classList.toggle("here", each === row);
    if (source) for (const line of all("tbody tr", source)) line.classList.toggle("here", line.dataset.line === row.dataset.line);
    first.disabled = back.disabled = now === 0;
    on.disabled = last.disabled = now === steps.length - 1;
  };
  place.replaceChildren(make("div", { className: "controls" }, first, back, slider, on, last), words, cards);
  place.tabIndex = 0;
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", "The execution step by step: arrow keys");
  place.hidden = false;
  const moves = { ArrowLeft: () => now - 1, ArrowRight: () => now + 1, Home: () => 0, End: () => steps.length - 1 };
  place.addEventListener("keydown", event => {
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    show(moves[event.key]());
  });
  slider.addEventListener("input", () => show(Number(slider.value)));
  first.addEventListener("click", () => show(0));
  back.addEventListener("click", () => show(now - 1));
  on.addEventListener("click", () => show(now + 1));
  last.addEventListener("click", () => show(steps.length - 1));
  trace.addEventListener("click", event => { const row = event.target.closest("tbody tr"); if (row) show(steps.indexOf(row)); });
  show(0);
};

// ---- findings: closed until one is wanted, unless there is but one; players are made when they are opened ----
const set = (finding, open) => {
  finding.classList.toggle("open", open);
  one("h3 button", finding).setAttribute("aria-expanded", open);
  if (!open || finding.dataset.made) return;
  finding.dataset.made = "yes";
  const source = one(".source", finding);
  all(".trace", finding).forEach((trace, number) => {
    let place = number ? null : one(".stage .player", finding);
    if (!place) {
      place = make("div", { className: "player" });
      trace.parentNode.before(place);
    }
    play(trace, place, source);
  });
};
for (const finding of all(".finding")) {
  const head = one("h3", finding), button = make("button", { type: "button" }, ...head.childNodes);
  head.append(button);
  button.setAttribute("aria-expanded", false);
  button.addEventListener("click", () => set(finding, !finding.classList.contains("open")));
}
const openMeant = () => {
  const [place, step] = location.hash.slice(1).split("-");
  const meant = place && document.getElementById(place);
  if (!meant || !meant.matches(".finding")) return;
  set(meant, true);
  meant.scrollIntoView();
  one("h3 button", meant).focus({ preventScroll: true });
  if (step) one(".trace", meant)?.tBodies[0].rows[Number(step)]?.click();
};
addEventListener("hashchange", openMeant);
if (all(".finding").length === 1) set(one(".finding"), true);
openMeant();
