// Parts of reports, as the server's templates make them, brought to life in the page.
import { all, make } from "./dom";

interface Execution extends HTMLElement { step: number; start(): void }

/** Puts markup of the server's templates into a place. Only what they escaped is in it. */
export const fill = (place: HTMLElement, html: string, onLine: (line: number | null) => void): void => {
  place.innerHTML = html;
  for (const each of all("[id]", place)) {
    each.dataset.place = each.id;
    each.removeAttribute("id");
  }
  for (const link of all<HTMLAnchorElement>('a[href^="#"]', place)) {
    const target = () => place.querySelector<HTMLElement>(`[data-place="${CSS.escape(link.hash.slice(1))}"]`);
    link.addEventListener("click", event => { event.preventDefault(); const found = target(); if (found) { open(found, true); found.scrollIntoView({ block: "start" }); } });
  }
  for (const each of all(".fold", place)) unfolding(each);
  const findings = all(".finding", place);
  for (const each of findings) {
    const head = each.querySelector("h3")!, button = make("button", { type: "button", ariaExpanded: "false" }, ...head.childNodes);
    button.addEventListener("click", () => open(each, !each.classList.contains("open")));
    head.append(button);
    all(".timeline", each).forEach(timeline => connect(timeline, each, onLine));
  }
  if (findings.length === 1) open(findings[0]!, true);
};

const unfolding = (fold: HTMLElement): void => {
  const button = make("button", { type: "button", className: "unfold", textContent: fold.dataset.head ?? "More", ariaExpanded: "false" });
  button.addEventListener("click", () => button.setAttribute("aria-expanded", `${fold.classList.toggle("unfolded")}`));
  fold.before(button);
};

const open = (finding: HTMLElement, wanted: boolean): void => {
  if (!finding.matches(".finding")) return;
  finding.classList.toggle("open", wanted);
  finding.querySelector("h3 button")?.setAttribute("aria-expanded", `${wanted}`);
  if (wanted) for (const each of all<Execution>("rsp-execution", finding)) each.start();
};

const connect = (timeline: HTMLElement, finding: HTMLElement, onLine: (line: number | null) => void): void => {
  const shown = timeline.querySelector<Execution>("rsp-execution"), rows = all("tbody tr", timeline);
  shown?.addEventListener("step", event => {
    const { step, line } = (event as CustomEvent<{ step: number; line: number | null }>).detail;
    rows.forEach((row, number) => row.classList.toggle("here", number === step));
    for (const each of all(".source tbody tr", finding)) each.classList.toggle("here", each.dataset.line === `${line}`);
    onLine(line);
  });
  rows.forEach((row, number) => row.addEventListener("click", () => { if (shown) shown.step = number; }));
};
