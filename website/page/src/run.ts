// What takes longer: it is started, told as it goes, and stopped.
import { ask, Failed } from "./asking";
import { make, one } from "./dom";
import type { Question, Read } from "./types";

type Take = (name: string, data: any) => void;

export class Run {
  #going: AbortController | null = null;
  readonly #start: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #progress: HTMLOutputElement;
  readonly result: HTMLElement;

  /** question: what is asked; take: each event that this does not know itself; begin: before the first. */
  constructor(
    panel: HTMLElement, private readonly question: () => Question, private readonly take: Take, private readonly begin: () => void = () => {},
  ) {
    this.#start = one<HTMLButtonElement>(".start", panel);
    this.#stop = one<HTMLButtonElement>(".stop", panel);
    this.#progress = one<HTMLOutputElement>(".progress", panel);
    this.result = one(".result", panel);
    this.#start.onclick = () => this.start();
    this.#stop.onclick = () => this.stop("stopped");
  }

  get going(): boolean {
    return this.#going !== null;
  }

  say(words: string): void {
    this.#progress.textContent = words;
  }

  stop(words = ""): void {
    this.#going?.abort();
    this.#going = null;
    this.#stop.hidden = true;
    if (words) this.say(words);
  }

  async start(): Promise<void> {
    this.stop();
    const going = new AbortController(), started = performance.now();
    this.#going = going;
    this.#stop.hidden = false;
    this.say("waiting …");
    this.begin();
    let total: { total: number | null; of: string; before: number } | null = null, wrong = false;
    try {
      for await (const [name, data] of ask(this.question(), going.signal)) {
        if (going.signal.aborted) return;
        if (name === "read") {
          const { problems } = data as Read;
          wrong = problems.length > 0;
          this.result.replaceChildren(...problems.map(each => make("pre", { className: "problem", textContent: each.text })));
        } else if (name === "waiting") this.say(`waiting: ${data.before || "no"} others are before you …`);
        else if (name === "total") {
          total = data;
          this.say(data.before ? `deciding ${data.before} tests first …` : "…");
        } else if (name === "done") this.say(`${data.done} of ${total?.total ?? "?"} ${total?.of ?? ""}s`);
        else this.take(name, data);
      }
      if (going.signal.aborted) return;
      this.say(wrong ? "what is wrong must be mended first" : `done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      if (going.signal.aborted) return;
      const words = error instanceof Failed ? error.message : `${error}`;
      this.say(`UNKNOWN: ${words}`);
    }
    if (this.#going === going) {
      this.#going = null;
      this.#stop.hidden = true;
    }
  }
}
