// @ts-check
"use strict";
/**
 * <rsp-execution>: an execution that steps through the caches. It takes the JSON of `Animation`
 * (rspverify/render/animation.py): from its child <script type="application/json">, or as
 * `show(animation)`. With the attribute `lazy` nothing is made before `start()`.
 *
 * Keys: space plays, arrows step, Home and End. `step` is the step that is shown, 0 before the
 * first; whenever it changes there is an event `step`, whose detail is {step, line}. If `picture` is
 * set to an element with the SVG of an execution, the events of the line of the step are marked in it.
 *
 * It needs no module loader and names nothing but the element, so that it runs as a module, as a
 * plain script, and out of a folder. Texts are only ever set as text.
 *
 * @typedef {{value: number|null, dirty: boolean|null, valid: boolean|null, bits: string[]}} Entry
 * @typedef {[name: string, elements: string[]]} Fifo  oldest first
 * @typedef {{entries: Object<string, Entry>|null, fifos: Fifo[]}} CacheState
 * @typedef {{caches: Object<string, CacheState>, memory: Object<string, number>, locks: Object<string, string>}} Snapshot
 * @typedef {[thread: number, place: number]} Instruction
 * @typedef {{label: string, thread: number|null, cache: string|null, line: number|null,
 *   after: Snapshot, instruction: Instruction|null, open: boolean, beside: Instruction[],
 *   reads: {location: string, value: number, source: string}|null}} Step
 * @typedef {{initial: Snapshot, steps: Step[], threads: string[], caches: string[],
 *   shortest: boolean, code: [line: number, text: string][][], shared: number[][], queues: string[]}} Execution
 * @typedef {{head: string, execution: Execution, lines: Object<string, string>, places: string[],
 *   blocked: string[], left: number, legend: [sign: string, words: string][]}} AnimationData
 */
(() => {
  /**
   * @param {string} tag @param {string} style @param {...(Node|string)} children
   * @returns {HTMLElement}
   */
  const make = (tag, style, ...children) => {
    const made = document.createElement(tag);
    if (style) made.className = style;
    made.append(...children);
    return made;
  };
  /** @param {string} text @param {string} label */
  const button = (text, label) => {
    const made = /** @type {HTMLButtonElement} */ (make("button", "", text));
    made.type = "button";
    made.title = label;
    made.setAttribute("aria-label", label);
    return made;
  };

  // ---- words ----
  /** @param {Entry} it As in Fig. 4: `42 D,V`. */
  const written = it => {
    const flags = [];
    if (it.dirty !== null) flags.push(it.dirty ? "D" : "C");
    if (it.valid !== null) flags.push(it.valid ? "V" : "I");
    return [it.value === null ? "" : `${it.value}`, [...flags, ...it.bits].join(",")].filter(Boolean).join(" ");
  };
  /** @param {Entry} it */
  const meaning = it => [
    it.dirty === null ? "" : it.dirty ? "dirty" : "clean",
    it.valid === null ? "" : it.valid ? "valid" : "invalid",
    ...it.bits,
  ].filter(Boolean).join(", ");
  /** @param {CacheState|undefined} it @returns {Map<string, string>} */
  const entriesOf = it => new Map(Object.entries(it?.entries ?? {}).map(([name, each]) => [name, written(each)]));
  /** @param {CacheState|undefined} it @returns {Map<string, string[]>} */
  const fifosOf = it => new Map(it?.fifos ?? []);
  /** @param {string[]} all @param {string[]} some What of all is not among some; either may hold a text twice. */
  const without = (all, some) => {
    const left = [...some];
    return all.filter(each => {
      const place = left.indexOf(each);
      if (place >= 0) left.splice(place, 1);
      return place < 0;
    });
  };

  /** What a step changed, in words, but for what is in queues.
   * @param {Snapshot} before @param {Snapshot} after @param {string[]} queues */
  const changes = (before, after, queues) => {
    /** @type {string[]} */
    const said = [];
    for (const [cache, now] of Object.entries(after.caches)) {
      if (queues.includes(cache)) continue;
      const was = before.caches[cache], old = entriesOf(was), found = entriesOf(now);
      for (const [name, text] of found) {
        if (!old.has(name)) said.push(`${cache} has ${name} = ${text}`);
        else if (old.get(name) !== text) said.push(`${cache}: ${name} = ${old.get(name)} becomes ${text}`);
      }
      for (const name of old.keys()) if (!found.has(name)) said.push(`${name} is gone from ${cache}`);
      const fifos = fifosOf(now), oldFifos = fifosOf(was);
      for (const name of new Set([...fifos.keys(), ...oldFifos.keys()])) {
        const [ours, theirs] = [fifos.get(name) ?? [], oldFifos.get(name) ?? []];
        const where = name ? `${name} of ${cache}` : `the fifo of ${cache}`;
        for (const each of without(theirs, ours)) said.push(`${each} leaves ${where}`);
        for (const each of without(ours, theirs)) said.push(`${each} joins ${where}`);
      }
    }
    for (const [name, value] of Object.entries(after.memory)) {
      if (before.memory[name] !== value) said.push(`memory: ${name} = ${before.memory[name]} becomes ${value}`);
    }
    for (const [name, holder] of Object.entries(after.locks)) {
      if (before.locks[name] !== holder) said.push(`${holder} holds the ${name}`);
    }
    for (const name of Object.keys(before.locks)) if (!(name in after.locks)) said.push(`the ${name} is free`);
    return said;
  };

  // ---- where parts stand: threads side by side, below them what they share ----
  /**
   * Boxes of caches at one place, which their names end with, each below all inner ones that it overlaps.
   * @param {Execution} it
   */
  const boxesOf = it => {
    const count = it.threads.length;
    /** @type {Map<string, {names: string[], threads: number[], row: number}>} */
    const boxes = new Map();
    it.caches.forEach((name, number) => {
      const own = it.threads.flatMap((each, thread) => each === name ? [thread] : []);
      const shared = it.shared[number] ?? own;
      const threads = shared.length ? shared : [...Array(count).keys()];
      const key = `${threads.join(" ")}/${name.slice(name.indexOf(" ") + 1)}`;
      const box = boxes.get(key) ?? { names: [], threads, row: 0 };
      box.names.push(name);
      boxes.set(key, box);
    });
    const placed = [...boxes.values()].sort((a, b) => a.threads.length - b.threads.length || a.threads[0] - b.threads[0]);
    placed.forEach((box, number) => {
      const [first, last] = [box.threads[0], box.threads[box.threads.length - 1]];
      const above = placed.slice(0, number).filter(each => each.threads[0] <= last && each.threads[each.threads.length - 1] >= first);
      box.row = Math.max(1, ...above.map(each => each.row)) + 1;
    });
    return placed;
  };
  /** @param {HTMLElement} box @param {number} row @param {number} first @param {number} last */
  const place = (box, row, first, last) => {
    box.style.gridRow = `${row}`;
    box.style.gridColumn = `${first + 1} / ${last + 2}`;
    return box;
  };

  // ---- where the threads are ----
  /**
   * What is to be said of each instruction after a step: now, done, open (it goes on later), due,
   * passed (not taken), later; and its text, with what it read as far as that is known.
   * @param {AnimationData} animation @param {number} step
   */
  const statesOf = ({ execution, blocked }, step) => execution.code.map((code, thread) => {
    /** @type {{state: string, text: string}[]} */
    const found = code.map(([, text]) => ({ state: "", text }));
    let last = -1, due = -1;
    execution.steps.forEach((each, number) => {
      const [whose, at] = each.instruction ?? [-1, -1];
      if (whose !== thread || !found[at]) return;
      if (number < step) {
        if (each.thread === null) found[at].text += each.reads ? ` (reads ${each.reads.value})` : "";
        else [found[at].text, last] = [each.label, at];
        found[at].state = number === step - 1 ? "now" : each.open ? "open" : "done";
      } else if (each.thread !== null && due < 0) due = at;
    });
    if (due < 0 && step === execution.steps.length) {
      const words = blocked.find(each => each.startsWith(`P${thread} at `));
      if (words) due = code.findIndex(([, text], at) => at > last && words.startsWith(`P${thread} at ${text} `));
    }
    found.forEach((each, at) => {
      each.state ||= at === due ? "due" : at < last ? "passed" : "later";
    });
    if (due >= 0 && found[due].state !== "now") found[due].state = "due";
    return found;
  });

  const STATES = { now: "now", done: "done", open: "under way", due: "next", passed: "not taken", later: "later" };
  const KEY = [["▶", "now"], ["✓", "done"], ["○", "next"]];
  const SPEEDS = [0.5, 1, 2, 4];
  const PAUSE = 1400; // milliseconds between steps at speed 1

  class ShownExecution extends HTMLElement {
    /** @type {AnimationData|null} */ #animation = null;
    /** @type {Element|null} */ #picture = null;
    #step = 0;
    #timer = 0;
    #speed = 1;
    /** @type {(() => void)[]} */ #draw = [];
    /** @type {HTMLButtonElement|null} */ #play = null;

    connectedCallback() {
      if (!this.hasAttribute("lazy")) this.start();
    }

    disconnectedCallback() {
      this.pause();
    }

    /** Shows what its data says, unless something is shown. */
    start() {
      const data = this.querySelector('script[type="application/json"]');
      if (!this.#animation && data) this.show(JSON.parse(data.textContent ?? ""));
    }

    /** Shows an execution, from before its first step. @param {AnimationData} animation */
    show(animation) {
      this.pause();
      this.#animation = animation;
      this.#draw = [];
      for (const each of [...this.children]) if (each.tagName !== "SCRIPT") each.remove();
      this.tabIndex = 0;
      this.setAttribute("role", "group");
      this.setAttribute("aria-label", `${animation.head}: space plays, arrow keys step`);
      this.append(this.#controls(animation), this.#said(animation), this.#stage(animation), ...this.#notes(animation));
      this.onkeydown = (/** @type {KeyboardEvent} */ event) => this.#key(event);
      this.hidden = false;
      this.#step = -1;
      this.step = 0;
    }

    /** How many steps it has. */
    get steps() {
      return this.#animation?.execution.steps.length ?? 0;
    }

    get step() {
      return this.#step;
    }

    set step(wanted) {
      const step = Math.max(0, Math.min(this.steps, Math.trunc(wanted) || 0));
      if (step === this.#step || !this.#animation) return;
      this.#step = step;
      for (const draw of this.#draw) draw();
      const line = step ? this.#animation.execution.steps[step - 1].line : null;
      this.#mark();
      this.dispatchEvent(new CustomEvent("step", { bubbles: true, detail: { step, line } }));
    }

    /** @param {Element|null} picture */
    set picture(picture) {
      this.#picture = picture;
      this.#mark();
    }

    #mark() {
      const { line, instruction } = this.#animation?.execution.steps[this.#step - 1] ?? {};
      for (const each of this.#picture?.querySelectorAll(".event") ?? []) {
        const due = instruction && each.getAttribute("data-line") === `${line}` && each.getAttribute("data-thread") === `${instruction[0]}`;
        each.classList.toggle("rx-event", Boolean(due));
      }
    }

    get playing() {
      return this.#timer !== 0;
    }

    /** Steps by itself, from the start if it is at the end. */
    play() {
      if (this.playing || !this.#animation) return;
      if (this.#step === this.steps) this.step = 0;
      const go = () => {
        if (this.#step >= this.steps) return this.pause();
        this.step = this.#step + 1;
        this.#timer = window.setTimeout(go, PAUSE / this.#speed);
      };
      this.#timer = window.setTimeout(go, PAUSE / this.#speed / 2);
      this.#playing();
    }

    pause() {
      window.clearTimeout(this.#timer);
      this.#timer = 0;
      this.#playing();
    }

    #playing() {
      if (!this.#play) return;
      this.#play.textContent = this.playing ? "Pause" : "Play";
      this.#play.setAttribute("aria-label", this.playing ? "pause" : "play");
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const target = /** @type {HTMLElement} */ (event.target);
      if (target.tagName === "SELECT" || (event.key === " " && target.tagName === "BUTTON")) return;
      /** @type {Object<string, () => number>} */
      const moves = {
        ArrowLeft: () => this.#step - 1, ArrowDown: () => this.#step - 1, ArrowUp: () => this.#step + 1,
        ArrowRight: () => this.#step + 1, Home: () => 0, End: () => this.steps,
      };
      const upright = event.key === "ArrowUp" || event.key === "ArrowDown";
      if (event.key === " ") this.playing ? this.pause() : this.play();
      else if (event.key in moves && (!upright || target.tagName === "INPUT")) this.#to(moves[event.key]());
      else return;
      event.preventDefault();
    }

    /** @param {number} step */
    #to(step) {
      this.pause();
      this.step = step;
    }

    // ---- the parts ----
    /** @param {AnimationData} animation */
    #controls({ execution }) {
      const first = button("|◀", "first"), back = button("◀", "back"), play = button("Play", "play");
      const next = button("▶", "next"), last = button("▶|", "last");
      const slider = /** @type {HTMLInputElement} */ (make("input", ""));
      Object.assign(slider, { type: "range", min: "0", max: `${execution.steps.length}`, value: "0" });
      slider.setAttribute("aria-label", "step");
      const queues = /** @type {HTMLInputElement} */ (make("input", "rx-queues"));
      queues.type = "checkbox";
      const speed = /** @type {HTMLSelectElement} */ (make("select", "", ...SPEEDS.map(each => {
        const option = /** @type {HTMLOptionElement} */ (make("option", "", `${each}×`));
        option.value = `${each}`;
        option.selected = each === this.#speed;
        return option;
      })));
      speed.setAttribute("aria-label", "speed");
      this.#play = play;
      play.classList.add("rx-play");
      first.onclick = () => this.#to(0);
      back.onclick = () => this.#to(this.#step - 1);
      play.onclick = () => this.playing ? this.pause() : this.play();
      next.onclick = () => this.#to(this.#step + 1);
      last.onclick = () => this.#to(this.steps);
      slider.oninput = () => this.#to(Number(slider.value));
      speed.onchange = () => { this.#speed = Number(speed.value); };
      this.#draw.push(() => {
        slider.value = `${this.#step}`;
        slider.setAttribute("aria-valuetext", `step ${this.#step} of ${this.steps}`);
        first.disabled = back.disabled = this.#step === 0;
        next.disabled = last.disabled = this.#step === this.steps;
      });
      const more = execution.queues.length ? [make("label", "", queues, " queues")] : [];
      return make("div", "rx-controls", first, back, play, next, last, slider, speed, ...more);
    }

    /** @param {AnimationData} animation */
    #said(animation) {
      const { execution, lines } = animation;
      const said = make("p", "rx-said");
      said.setAttribute("aria-live", "polite");
      this.#draw.push(() => {
        const step = execution.steps[this.#step - 1], total = execution.steps.length;
        if (!step) {
          said.replaceChildren(make("b", "", `Before the first of ${total} ${total === 1 ? "step" : "steps"}`));
          return;
        }
        const by = step.instruction ? `P${step.instruction[0]}` : step.cache ?? "";
        const line = step.line === null ? "" : lines[step.line] ? ` (line ${step.line}: ${lines[step.line]})` : ` (line ${step.line})`;
        const changed = changes(execution.steps[this.#step - 2]?.after ?? execution.initial, step.after, execution.queues);
        if (step.open && step.thread !== null) changed.unshift("it is on its way");
        const states = statesOf(animation, this.#step);
        for (const [thread, at] of step.beside) changed.push(`P${thread}'s ${states[thread][at].text} is still on its way`);
        said.replaceChildren(make("b", "", `Step ${this.#step} of ${total}`), ` ${by}: `, make("code", "", step.label), line,
          make("span", "rx-changes", changed.length ? `${changed.join("; ")}.` : "Nothing else changes."));
      });
      return said;
    }

    /** @param {AnimationData} animation */
    #stage(animation) {
      const { execution, places } = animation, count = Math.max(1, execution.threads.length);
      const stage = make("div", "rx-stage");
      stage.style.setProperty("--rx-threads", `${count}`);
      execution.threads.forEach((_, thread) => {
        stage.append(place(this.#thread(animation, thread, places[thread] ?? ""), 1, thread, thread));
      });
      let bottom = 1;
      for (const box of boxesOf(execution)) {
        const shown = make("div", "rx-box", ...box.names.map(name => this.#cache(execution, name)));
        stage.append(place(shown, box.row, box.threads[0], box.threads[box.threads.length - 1]));
        bottom = Math.max(bottom, box.row);
      }
      const below = make("div", "rx-box", ...this.#memory(execution));
      if (below.children.length) stage.append(place(below, bottom + 1, 0, count - 1));
      const scrolled = make("div", "rx-scroll", stage);
      return scrolled;
    }

    /** @param {AnimationData} animation @param {number} thread @param {string} where */
    #thread(animation, thread, where) {
      const { execution, lines } = animation;
      const code = execution.code[thread] ?? [], list = make("ol", "rx-code");
      /** @type {HTMLElement[]} */
      const items = [];
      /** @type {HTMLElement[]} */
      const rows = [];
      let row = make("li", "");
      code.forEach(([line], at) => {
        if (!at || code[at - 1][0] !== line) {
          row = make("li", "rx-line", make("span", "rx-number", `${line}`));
          if (lines[line]) row.append(make("code", "rx-source", lines[line]));
          list.append(row);
        }
        items[at] = make("code", "rx-instruction");
        row.append(items[at]);
        rows[at] = row;
      });
      this.#draw.push(() => {
        const states = statesOf(animation, this.#step)[thread] ?? [];
        for (const each of rows) each.classList.remove("rx-here", "rx-next");
        states.forEach(({ state, text }, at) => {
          items[at].replaceChildren(text, make("span", "rx-unseen", ` ${STATES[/** @type {keyof typeof STATES} */ (state)]}`));
          items[at].className = `rx-instruction rx-${state}`;
          items[at].title = STATES[/** @type {keyof typeof STATES} */ (state)];
          if (state === "now") rows[at].classList.add("rx-here");
          if (state === "due") rows[at].classList.add("rx-next");
        });
        const shown = /** @type {HTMLElement|null} */ (list.querySelector(".rx-here") ?? list.querySelector(".rx-next"));
        if (shown) list.scrollTop = shown.offsetTop - list.offsetTop - (list.clientHeight - shown.offsetHeight) / 2;
        else if (!this.#step) list.scrollTop = 0;
      });
      const head = make("h5", "", `P${thread}`);
      if (where) head.append(" ", make("small", "", where));
      const panel = make("section", "rx-thread", head, list);
      const reads = execution.steps.map(({ instruction, reads, line }) => instruction?.[0] === thread && reads ? { ...reads, line } : null);
      if (reads.some(Boolean)) {
        const saw = make("span", ""), shown = make("p", "rx-saw", make("b", "", "saw "), saw);
        panel.append(shown);
        this.#draw.push(() => {
          const until = reads.slice(0, this.#step).flatMap(each => each ? [each] : []);
          shown.classList.toggle("rx-nothing", !until.length);
          saw.textContent = until.map(each => `${each.location} = ${each.value} (line ${each.line})`).join(", ") || "nothing yet";
        });
      }
      this.#draw.push(() => panel.classList.toggle("rx-active", execution.steps[this.#step - 1]?.instruction?.[0] === thread));
      this.#waits(animation, panel, words => words.startsWith(`P${thread} `));
      return panel;
    }

    /** Marks a part in the last state if it is said to wait. @param {AnimationData} animation
     * @param {HTMLElement} part @param {(words: string) => boolean} about */
    #waits({ blocked }, part, about) {
      if (blocked.some(about)) this.#draw.push(() => part.classList.toggle("rx-waits", this.#step === this.steps));
    }

    /** A card of what has a state. @param {Execution} execution @param {string} title
     * @param {(now: Snapshot, before: Snapshot) => (HTMLElement|string)[]} parts */
    #card(execution, title, parts) {
      const body = make("div", "rx-parts"), card = make("section", "rx-card", make("h5", "", title), body);
      this.#draw.push(() => {
        const state = (/** @type {number} */ step) => execution.steps[step - 1]?.after ?? execution.initial;
        body.replaceChildren(...parts(state(this.#step), state(Math.max(0, this.#step - 1))));
        card.classList.toggle("rx-changed", body.querySelector(".rx-new") !== null);
        card.classList.toggle("rx-active", execution.steps[this.#step - 1]?.cache === title);
      });
      return card;
    }

    /** @param {Execution} execution @param {string} name */
    #cache(execution, name) {
      const queue = execution.queues.includes(name), card = this.#card(execution, name, (now, before) => {
        const cache = now.caches[name], was = before.caches[name], old = entriesOf(was);
        const entries = Object.entries(cache.entries ?? {}).map(([of, it]) => {
          const text = written(it), entry = make("span", "rx-entry", `${of}=${text}`);
          entry.title = meaning(it);
          if (it.dirty) entry.classList.add("rx-dirty");
          if (it.valid === false) entry.classList.add("rx-invalid");
          entry.classList.toggle("rx-new", old.get(of) !== text);
          return entry;
        });
        const gone = [...old.keys()].filter(of => !(of in (cache.entries ?? {}))).map(of => make("s", "rx-entry rx-gone rx-new", of));
        return entries.length + gone.length + cache.fifos.length + was.fifos.length
          ? [...entries, ...gone, ...this.#fifos(cache, was)] : [make("span", "rx-empty", "empty")];
      });
      card.classList.toggle("rx-queue", queue);
      if (this.#animation) {
        this.#waits(this.#animation, card, words => !/^P\d+ /.test(words) && words.split(" waits ")[0].endsWith(` ${name}`));
      }
      return card;
    }

    /** The oldest element on the right, as the paper draws it. @param {CacheState} cache @param {CacheState} was */
    #fifos(cache, was) {
      const now = fifosOf(cache), old = fifosOf(was);
      return [...new Set([...old.keys(), ...now.keys()])].map(name => {
        const elements = now.get(name) ?? [], before = old.get(name) ?? [], fresh = without(elements, before);
        const shown = [...elements].reverse().map(each => {
          const part = make("span", /^\w+\(P\d+\)$/.test(each) ? "rx-marker" : "rx-element", each);
          const place = fresh.indexOf(each);
          if (place >= 0) fresh.splice(place, 1);
          part.classList.toggle("rx-new", place >= 0);
          return part;
        });
        const gone = without(before, elements).reverse().map(each => make("s", "rx-element rx-gone rx-new", each));
        const fifo = make("span", "rx-fifo", ...(name ? [make("small", "", `${name}:`)] : []), "[", ...shown, "]", ...gone);
        fifo.title = "the oldest is on the right";
        return fifo;
      });
    }

    /** @param {Execution} execution */
    #memory(execution) {
      const cards = [];
      if (Object.keys(execution.initial.memory).length) {
        cards.push(this.#card(execution, "memory", (now, before) => Object.entries(now.memory).map(([name, value]) => {
          const entry = make("span", "rx-entry", `${name}=${value}`);
          entry.classList.toggle("rx-new", before.memory[name] !== value);
          return entry;
        })));
      }
      if (execution.steps.some(each => Object.keys(each.after.locks).length)) {
        cards.push(this.#card(execution, "locks", (now, before) => {
          const held = Object.entries(now.locks).map(([name, holder]) => {
            const lock = make("span", "rx-lock", `${name}: ${holder}`);
            lock.classList.toggle("rx-new", before.locks[name] !== holder);
            return lock;
          });
          const freed = Object.keys(before.locks).filter(name => !(name in now.locks)).map(name => make("s", "rx-lock rx-gone rx-new", name));
          return held.length + freed.length ? [...held, ...freed] : [make("span", "rx-empty", "all free")];
        }));
      }
      return cards;
    }

    /** @param {AnimationData} animation */
    #notes({ execution, blocked, left, legend }) {
      const signs = [...KEY, ...legend.filter(([sign]) => sign !== "✓" && !sign.endsWith(":"))];
      const notes = [make("p", "rx-note rx-key", `${signs.map(([sign, words]) => `${sign} ${words}`).join("; ")}.`)];
      for (const [name, words] of legend.filter(([name]) => name.endsWith(":"))) {
        const queue = execution.queues.some(each => name === `${each.split(" ")[0]}:`);
        notes.push(make("p", `rx-note rx-key${queue ? " rx-queue" : ""}`, make("b", "", name), ` ${words}`));
      }
      if (left) notes.push(make("p", "rx-note", `${left.toLocaleString("en")} more steps are not shown.`));
      if (blocked.length) {
        const list = make("ul", "", ...blocked.map(each => make("li", "", each)));
        const who = make("section", "rx-blocked", make("h5", "", "Then who waits for whom"), list);
        this.#draw.push(() => who.classList.toggle("rx-active", this.#step === this.steps));
        notes.push(who);
      }
      return notes;
    }
  }
  if (!customElements.get("rsp-execution")) customElements.define("rsp-execution", ShownExecution);
})();
