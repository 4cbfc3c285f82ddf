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
text?.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, rows.length > 5000 ? 250 : 30); });
word?.addEventListener("change", filter);
if (text) one("#tools").hidden = !rows.length;

// ---- sorting: within folders, and folders by their first test; what is empty comes last ----
const order = ["ERROR", "SURVIVES", "WORSE", "UNSOUND", "by-UNSOUND", "STUCK", "by-STUCK", "OPEN", "UNKNOWN", "VACUOUS", "UNSUPPORTED",
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

// ---- an execution: the animation, and its table for whoever wants it ----
for (const fold of all(".fold")) {
  const button = make("button", { type: "button", className: "unfold", textContent: fold.dataset.head, ariaExpanded: "false" });
  button.addEventListener("click", () => button.setAttribute("aria-expanded", fold.classList.toggle("unfolded")));
  fold.before(button);
}
const start = (timeline, source, picture) => {
  const shown = one("rsp-execution", timeline), rows = [...one(".trace", timeline).tBodies[0].rows];
  shown.addEventListener("step", event => {
    rows.forEach((row, number) => row.classList.toggle("here", number === event.detail.step));
    if (source) for (const line of all("tbody tr", source)) line.classList.toggle("here", line.dataset.line === `${event.detail.line}`);
  });
  one(".trace", timeline).addEventListener("click", event => {
    const row = event.target.closest("tbody tr");
    if (row) shown.step = rows.indexOf(row);
  });
  shown.start();
  shown.picture = picture;
};

// ---- findings: closed until one is wanted, unless there is but one; animations are made when they are opened ----
const set = (finding, open) => {
  finding.classList.toggle("open", open);
  one("h3 button", finding).setAttribute("aria-expanded", open);
  if (!open || finding.dataset.made) return;
  finding.dataset.made = "yes";
  const stage = one(".stage", finding), picture = one(".picture svg", finding);
  if (stage) stage.classList.toggle("stacked", picture?.viewBox.baseVal.width > 900);
  for (const timeline of all(".timeline", finding)) start(timeline, one(".source", finding), one(".picture", finding));
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
  const shown = one("rsp-execution", meant);
  if (step && shown) shown.step = Number(step);
};
addEventListener("hashchange", openMeant);
if (all(".finding").length === 1) set(one(".finding"), true);
openMeant();
