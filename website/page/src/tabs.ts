// Tabs: one is open, arrow keys go from one to the next.
import { all, one } from "./dom";

export class Tabs {
  readonly #tabs = all<HTMLButtonElement>('[role="tab"]');

  constructor(private readonly opened: (panel: string) => void) {
    this.#tabs.forEach((tab, number) => {
      tab.addEventListener("click", () => this.open(tab.getAttribute("aria-controls")!));
      tab.addEventListener("keydown", event => {
        const to = { ArrowLeft: number - 1, ArrowRight: number + 1, Home: 0, End: this.#tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = this.#tabs[(to + this.#tabs.length) % this.#tabs.length]!;
        this.open(next.getAttribute("aria-controls")!);
        next.focus();
      });
    });
  }

  get shown(): string {
    return this.#tabs.find(each => each.getAttribute("aria-selected") === "true")!.getAttribute("aria-controls")!;
  }

  open(panel: string): void {
    for (const tab of this.#tabs) {
      const mine = tab.getAttribute("aria-controls") === panel;
      tab.setAttribute("aria-selected", `${mine}`);
      tab.tabIndex = mine ? 0 : -1;
      one(`#${tab.getAttribute("aria-controls")}`).hidden = !mine;
    }
    this.opened(panel);
  }
}
