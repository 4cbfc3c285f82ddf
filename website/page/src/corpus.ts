// A corpus as a matrix: a cell for each test, which changes its colour as answers come.
import { all, counted, make, stem } from "./dom";
import type { Cell } from "./types";

const SIGNS: Record<string, string> = { SOUND: "✓", UNSOUND: "✗", STUCK: "■", RACY: "~", OPEN: "◇", UNKNOWN: "?", VACUOUS: "∅", UNSUPPORTED: "–", ERROR: "!" };
const LIVE = /\b(LIVE|progress-UNKNOWN)\b/g;

export class Matrix {
  readonly #cells = new Map<string, HTMLButtonElement>();
  readonly #counts = make("p", { className: "counts" });
  readonly #changed = make("p", { className: "changes" });
  readonly #said = make("p", { className: "said", ariaLive: "polite" });
  #changes: string[] = [];
  #decided = 0;
  #folder = "";

  constructor(private readonly place: HTMLElement, private readonly open: (file: string) => void) {}

  /** Begins with the tests of a folder; those that are there already stay until they are told again. */
  begin(folder: string, files: string[]): void {
    this.#changes = [];
    this.#decided = 0;
    if (folder === this.#folder) {
      for (const each of this.#cells.values()) { each.classList.add("old"); each.classList.remove("changed"); }
      return;
    }
    this.#folder = folder;
    this.#cells.clear();
    const groups = new Map<string, HTMLElement>();
    for (const file of files) {
      const name = file.slice(folder.length + 1).replace(/\/?[^/]*$/, "") || stem(folder);
      const cell = make("button", { type: "button", className: "cell pending", title: stem(file), tabIndex: this.#cells.size ? -1 : 0 }, "·");
      cell.ariaLabel = `${stem(file)}: not decided yet`;
      cell.onclick = () => this.open(file);
      cell.onfocus = () => { this.#said.textContent = cell.title; };
      this.#cells.set(file, cell);
      if (!groups.has(name)) groups.set(name, make("div", { className: "cells" }));
      groups.get(name)!.append(cell);
    }
    const shown = [...groups].map(([name, cells]) => make("section", { className: "group" }, make("h4", { textContent: name }), cells));
    const grid = make("div", { className: "groups" }, ...shown);
    grid.onkeydown = event => this.#move(event);
    this.place.replaceChildren(this.#counts, this.#changed, grid, this.#said);
    this.#tell();
  }

  take(it: Cell): void {
    const cell = this.#cells.get(it.file);
    if (!cell) return;
    const before = cell.dataset.words, name = stem(it.file);
    const word = it.words.includes("STUCK") && !/UNSOUND|OPEN/.test(it.words) ? "STUCK" : it.words.split(" ")[0]!;
    cell.className = `cell ${it.kind.replace(LIVE, "")}`;
    cell.textContent = SIGNS[word] ?? "·";
    cell.dataset.words = it.words;
    cell.dataset.word = word;
    cell.title = `${name}: ${it.words}${it.why ? `\n${it.why}` : ""}`;
    cell.ariaLabel = `${name}: ${it.words}`;
    if (before && before !== it.words) {
      cell.classList.add("changed");
      this.#changes.push(`${name}: ${before} → ${it.words}`);
    }
    this.#decided += it.cached ? 0 : 1;
    this.#tell();
  }

  /** How many were decided anew. */
  get decided(): number {
    return this.#decided;
  }

  #tell(): void {
    const counts = new Map<string, number>();
    for (const each of this.#cells.values()) counts.set(each.dataset.word ?? "", (counts.get(each.dataset.word ?? "") ?? 0) + 1);
    const pending = counts.get("") ?? 0;
    counts.delete("");
    const parts = [...counts].sort().map(([word, number]) => make("span", { className: word }, `${SIGNS[word] ?? ""} ${number} ${word}`));
    this.#counts.replaceChildren(...parts.flatMap(each => [each, " "]), pending ? `${counted(pending, "test")} to decide` : "");
    const shown = this.#changes.slice(0, 12), more = this.#changes.length - shown.length;
    this.#changed.textContent = shown.length ? `Changed: ${shown.join("; ")}${more ? ` and ${more} more` : ""}` : "";
  }

  #move(event: KeyboardEvent): void {
    const cells = all<HTMLButtonElement>(".cell", this.place), now = cells.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: cells.length - 1 }[event.key];
    if (to === undefined || now < 0 || !cells[to]) return;
    event.preventDefault();
    cells[now]!.tabIndex = -1;
    cells[to]!.tabIndex = 0;
    cells[to]!.focus();
  }
}
