// The page: what is typed, what is asked of it, and what is shown.
import { ask, Failed, file } from "./asking";
import { Matrix } from "./corpus";
import { all, make, one, settled, stem } from "./dom";
import { Editor } from "./editor";
import { command, files, save, zip } from "./files";
import { carried, fragment } from "./link";
import { Run } from "./run";
import { fill } from "./shown";
import { TableView } from "./table";
import { Tabs } from "./tabs";
import type { Answer, Catalogue, Problem, Proof, Question, Read, State, Verdict } from "./types";

const TYPING = 100; // milliseconds without a key before it is asked
const LOOKING = 250; // milliseconds without another before it is asked why
const AFTER = 900; // milliseconds before what takes longer is asked again
const OWN = "own file …";
const SOUND = "The compiled test has no outcome that the model forbids";

const start = async (): Promise<void> => {
  const catalogue = await (await fetch("catalogue.json")).json() as Catalogue;
  const nonce = document.documentElement.dataset.nonce ?? "";
  const machines = one<HTMLSelectElement>("#machine"), models = one<HTMLSelectElement>("#model");
  const option = (value: string, words = value) => make("option", { value, textContent: words });
  machines.append(option("", "as the scheme says"), ...Object.entries(catalogue.machines).map(([name, about]) => {
    const made = option(name);
    made.title = about;
    return made;
  }), option(OWN));
  models.append(...catalogue.models.map(each => option(each)), option(OWN));
  for (const select of all<HTMLSelectElement>(".folder")) {
    select.append(...Object.entries(catalogue.corpora).map(([name, tests]) => option(name, `${name} (${tests.length})`)));
  }
  one("#schemes").append(...catalogue.schemes.map(each => option(each, each.replace(/^schemes\//, "").replace(/\.yaml$/, ""))));
  const tests = Object.values(catalogue.corpora).flat();
  one("#test-names").append(...tests.map(each => option(each, stem(each))));
  one("#example").append(...catalogue.examples.map((each, number) => {
    const made = option(`${number}`, each.title);
    made.title = each.about;
    return made;
  }));

  // ---- the texts ----
  let before = "", ownMachine: Editor | null = null, ownModel: Editor | null = null;
  /** What a text is called where it is loaded, until it is edited. */
  const loaded = { scheme: "", test: "" };
  const named = () => {
    const first = one<HTMLSelectElement>("#schemes").options[0]!, name = (path: string) => path.replace(/^schemes\//, "").replace(/\.yaml$/, "");
    first.textContent = loaded.scheme ? `${name(loaded.scheme)}${scheme.text === before ? "" : ", edited"}` : "load …";
    one<HTMLInputElement>("#tests").placeholder = loaded.test ? `${stem(loaded.test)} (type to load another)` : "load: MP, IRIW, Fig4 …";
  };
  const typed = () => { title(); named(); later(); };
  const scheme: Editor = new Editor("scheme", one("#scheme"), "Scheme as YAML", nonce, catalogue, () => table.runsOn, by => { table.moved(by); typed(); });
  const test = new Editor("test", one("#test"), "Litmus test", nonce, catalogue, () => "", typed);
  const table: TableView = new TableView(one("#table"), scheme, catalogue);
  const state = (): State => ({
    scheme: scheme.text, test: test.text,
    model: models.value === OWN ? "opencl-rsp" : models.value, machine: machines.value === OWN ? "" : machines.value,
    own_model: models.value === OWN ? ownModel?.text ?? "" : "", own_machine: machines.value === OWN ? ownMachine?.text ?? "" : "",
  });
  const question = (kind: string, more: Partial<Question> = {}): Question => ({ kind, ...state(), ...more });
  const title = () => { document.title = `rspverify: ${/^\s*\w+\s+(\S.*)$/m.exec(test.text)?.[1]?.trim() ?? ""}`; };

  /** An editor for a machine or a model of one's own, made when it is first wanted. */
  const own = async (kind: "machine" | "model", text?: string): Promise<void> => {
    const place = one(`#own-${kind}`), select = kind === "machine" ? machines : models;
    const begin = text ?? await file(kind === "machine" ? `machines/${select.dataset.was || (table.runsOn in catalogue.machines ? table.runsOn : "rsp")}.machine` : `models/${select.dataset.was || "opencl-rsp"}.cat`);
    let editor = kind === "machine" ? ownMachine : ownModel;
    if (!editor) {
      editor = new Editor(kind, one(".editor", place), `${kind} of your own`, nonce, catalogue, () => "", typed);
      if (kind === "machine") ownMachine = editor; else ownModel = editor;
    }
    editor.replace(begin);
    select.value = OWN;
    showOwn();
  };
  const showOwn = () => {
    one("#own-machine").hidden = machines.value !== OWN;
    one("#own-model").hidden = models.value !== OWN;
    one("#own").hidden = machines.value !== OWN && models.value !== OWN;
  };
  for (const [kind, select] of [["machine", machines], ["model", models]] as const) {
    select.addEventListener("change", async () => {
      if (select.value === OWN) await own(kind).catch(told);
      else { select.dataset.was = select.value; showOwn(); }
      now();
    });
    one(`#drop-${kind}`).addEventListener("click", () => { select.value = kind === "model" ? "opencl-rsp" : ""; showOwn(); now(); });
  }

  // ---- the verdict, as one types ----
  let asking: AbortController | null = null, explaining = 0;
  const word = one("#word"), subject = one("#subject"), reason = one("#reason"), took = one("#took"), shown = one("#answer");
  const strip = one("#verdict");
  const words = (kind: string, text: string, about = "", why = "") => {
    word.className = `word ${kind}`;
    word.textContent = text;
    subject.textContent = about;
    reason.textContent = why;
    strip.dataset.kind = kind;
  };
  const stale = (is: boolean) => { strip.classList.toggle("stale", is); shown.classList.toggle("stale", is); };
  const problemsOf = (list: HTMLElement, problems: Problem[], editor: Editor) => {
    editor.mark(problems);
    list.replaceChildren(...problems.map(each => {
      const at = each.place ? `line ${each.place.line}: ` : "";
      const button = make("button", { type: "button", className: "problem-line" }, make("b", { textContent: at }), each.message);
      if (each.hint) button.append(make("span", { className: "hint", textContent: ` ${each.hint}` }));
      button.onclick = () => editor.go(each.place);
      return make("li", { className: each.severity }, button);
    }));
  };
  const take = (read: Read) => {
    const others = new Map<Editor, Problem[]>([[scheme, []], [test, []]]);
    const loose: Problem[] = [];
    for (const each of read.problems) {
      const target = each.file.endsWith(".yaml") ? scheme : each.file === "test.litmus" ? test
        : each.file === "own.machine" ? ownMachine : each.file === "own.cat" ? ownModel : null;
      if (target) others.set(target, [...others.get(target) ?? [], each]); else loose.push(each);
    }
    problemsOf(one("#scheme-problems"), [...others.get(scheme)!, ...loose], scheme);
    problemsOf(one("#test-problems"), others.get(test)!, test);
    ownMachine?.mark(others.get(ownMachine) ?? []);
    ownModel?.mark(others.get(ownModel) ?? []);
    table.show(read.table, read.problems);
    if (!read.problems.length) return;
    const error = read.problems.find(each => each.severity === "error"), count = read.problems.length;
    const first = error ?? read.problems[0]!;
    words(error ? "ERROR" : "UNSUPPORTED", error ? "ERROR" : "UNSUPPORTED", count > 1 ? `${count} mistakes` : "",
      `${first.place ? `${first.file}:${first.place.line}:${first.place.column}: ` : ""}${first.message}`);
    table.fault([]);
    shown.replaceChildren(...read.problems.map(each => make("pre", { className: "problem", textContent: each.text })));
    took.textContent = "";
    stale(false);
  };
  const judged = (it: Verdict, milliseconds: number) => {
    const stuck = it.progress === "STUCK" && !/UNSOUND|OPEN/.test(it.verdict);
    const bounded = it.claim.includes(" within ") ? `${SOUND}, as far as these bounds go` : SOUND;
    const sound = it.progress === "LIVE" ? `${bounded}; and it can always go on.` : `${bounded}.`;
    const unknown = it.progress === "UNKNOWN" ? `whether it always goes on: ${it.progress_reason}` : "";
    const why = it.verdict !== "SOUND" ? it.reason : stuck ? "" : sound;
    words(stuck ? "STUCK" : it.verdict, it.claim, it.test, [why, stuck ? it.progress_reason : unknown].filter(Boolean).join("\n"));
    took.textContent = `${Math.round(milliseconds)} ms`;
    one("#command").textContent = command(state(), stuck);
    if (!/UNSOUND|OPEN/.test(it.verdict)) table.fault([]);
    strip.classList.remove("stale");
  };
  const told = (error: unknown) => {
    const why = error instanceof Failed ? error.message : `${error}`;
    words("UNKNOWN", "UNKNOWN", "", why);
    stale(false);
  };

  const now = async (): Promise<void> => {
    later.cancel();
    asking?.abort();
    clearTimeout(explaining);
    const going = new AbortController(), started = performance.now();
    asking = going;
    stale(true);
    address();
    test.due(null);
    if (!scheme.text.trim() || !test.text.trim()) {
      words("", "Nothing to decide yet", "", "A scheme and a test are needed: choose an example above, load one each, or type.");
      shown.replaceChildren();
      took.textContent = "";
      stale(false);
      return;
    }
    try {
      let wrong = false;
      for await (const [name, data] of ask(question("verdict"), going.signal)) {
        if (name === "read") { take(data as Read); wrong = (data as Read).problems.length > 0; }
        if (wrong) unproved();
        if (name === "verdict") judged(data as Verdict, performance.now() - started);
        if (name === "waiting" && performance.now() - started > 1_500) took.textContent = `waiting: ${data.before} before you`;
      }
      if (!wrong) explaining = window.setTimeout(() => void why(going).then(() => proving(going)), LOOKING);
      again();
    } catch (error) {
      if (!going.signal.aborted) { told(error); shown.replaceChildren(); }
    }
  };
  const why = async (going: AbortController): Promise<void> => {
    try {
      for await (const [name, data] of ask(question("answer"), going.signal)) {
        if (name !== "answer") continue;
        fill(shown, (data as Answer).html, line => test.due(line));
        table.fault((data as Answer).rows);
        shown.classList.remove("stale");
      }
    } catch (error) {
      if (going.signal.aborted) return;
      shown.replaceChildren(make("p", { className: "warning", textContent: `What it rests on is UNKNOWN: ${error instanceof Failed ? error.message : error}` }));
      stale(false);
    }
  };
  /** What is known of all programs, whatever the test is: asked again where the scheme or its machine has changed. */
  let proved = "";
  const every = one("#every"), proof = one("#proof .result");
  const proving = async (going: AbortController): Promise<void> => {
    const key = JSON.stringify({ ...state(), test: "", model: "", own_model: "" });
    if (key === proved || going.signal.aborted) return;
    every.classList.add("stale");
    try {
      for await (const [name, data] of ask(question("prove", { test: "" }), going.signal)) {
        const beyond = name === "read" ? (data as Read).problems.find(each => each.severity === "unsupported") : null;
        if (beyond) unproved(`All programs: not asked, as ${beyond.message}`);
        if (name !== "proof") continue;
        const { line, html } = data as Proof;
        every.replaceChildren("All programs: ", ...line.map(([text, kind]) => make("span", { className: kind && `word ${kind}`, textContent: text })));
        fill(proof, html, () => {});
        proved = key;
      }
    } catch (error) {
      if (!going.signal.aborted) unproved(`All programs: UNKNOWN: ${error instanceof Failed ? error.message : error}`);
    } finally {
      every.classList.remove("stale");
    }
  };
  const unproved = (words = "") => {
    every.textContent = words;
    proof.replaceChildren();
    proved = "";
  };
  const later = settled(TYPING, () => void now());

  // ---- what takes longer ----
  let asked = "";
  const about = () => JSON.stringify({ ...state(), test: "" });
  const folder = (panel: string) => one<HTMLSelectElement>(`#${panel} .folder`).value;
  /** What was chosen last counts, whichever comes first. */
  const wanted = { scheme: "", test: "" };
  const load = async (names: { scheme?: string; test?: string; model?: string }): Promise<void> => {
    if (names.scheme) wanted.scheme = names.scheme;
    if (names.test) wanted.test = names.test;
    try {
      const [left, right] = await Promise.all([names.scheme ? file(names.scheme) : null, names.test ? file(names.test) : null]);
      if (left !== null && names.scheme === wanted.scheme) { scheme.replace(left); before = left; loaded.scheme = names.scheme!; }
      if (right !== null && names.test === wanted.test) { test.replace(right); loaded.test = names.test!; }
      named();
      if (names.model) { models.value = names.model; showOwn(); }
      title();
      await now();
    } catch (error) { told(error); }
  };
  const look = (name: string) => { tabs.open("answer"); void load({ test: name }); strip.scrollIntoView({ block: "nearest" }); };
  const matrix = new Matrix(one("#corpus .result"), look);
  const corpus: Run = new Run(one("#corpus"), () => question("corpus", { corpus: folder("corpus"), test: "" }), (name, data) => {
    if (name === "cell") {
      matrix.take(data);
      corpus.say(`${data.done} of ${catalogue.corpora[folder("corpus")]!.length} tests, ${matrix.decided} decided anew`);
    }
  }, () => { asked = about(); matrix.begin(folder("corpus"), catalogue.corpora[folder("corpus")]!); });
  const mutate: Run = new Run(one("#mutate"), () => question("mutate", { corpus: folder("mutate"), test: "" }), (name, data) => {
    if (name === "report") fill(mutate.result, data.html, () => {});
    if (name === "mutants") seen(mutate.result, data);
  }, () => { asked = about(); });
  const seen = (place: HTMLElement, mutants: Record<string, { row: number; code: string[]; file: string | null }>) => {
    for (const head of all("tbody th[title]", place)) {
      const mutant = mutants[head.title];
      if (!mutant?.file) continue;
      const button = make("button", { type: "button", className: "quiet see", textContent: "see", title: "put this mutant and its test into the editors" });
      button.onclick = () => { table.code(mutant.row, mutant.code); look(mutant.file!); };
      head.append(" ", button);
    }
  };
  const compare: Run = new Run(one("#compare"), () => question("compare", { before, corpus: folder("compare"), test: "" }), (name, data) => {
    if (name === "report") fill(compare.result, data.html, () => {});
  }, () => { asked = about(); });
  one("#pin").onclick = () => { before = scheme.text; toast("From here on it is compared with the scheme as it is now."); void compare.start(); };
  const hunt: Run = new Run(one("#hunt"), () => question("hunt", {
    operations: Number(one<HTMLSelectElement>("#operations").value), threads: Number(one<HTMLSelectElement>("#threads").value), test: "",
  }), (name, data) => {
    if (name === "report") fill(hunt.result, data.html, () => {});
    if (name === "finding") {
      const button = make("button", { type: "button", textContent: `Open finding ${data.number} as the test`, title: data.program });
      button.onclick = () => { test.replace(data.text); loaded.test = ""; named(); title(); tabs.open("answer"); void now(); };
      one("#hunt .found").append(button);
      hunt.say(`${data.number} found, looking on …`);
    }
  }, () => { asked = about(); one("#hunt .found").replaceChildren(); hunt.result.replaceChildren(); });

  /** Whatever is open and was asked once is asked again after an edit of the scheme. */
  const again = () => {
    const key = about();
    if (asked && key !== asked) repeat();
    asked = key;
  };
  const repeat = settled(AFTER, () => {
    if (tabs.shown === "corpus" && one<HTMLInputElement>("#follow").checked && matrix.decided + all(".cell", one("#corpus")).length) void corpus.start();
    if (tabs.shown === "compare") void compare.start();
    if (mutate.going) mutate.stop("stopped, as the scheme has changed");
    if (hunt.going) hunt.stop("stopped, as the scheme has changed");
  });
  const tabs = new Tabs(panel => {
    if (panel === "compare" && !compare.going) void compare.start();
    if (panel === "corpus" && !corpus.going && !all(".cell", one("#corpus")).length) void corpus.start();
  });

  // ---- links, files, views ----
  const address = settled(400, async () => { history.replaceState(null, "", `#${await fragment(state())}`); });
  const toast = (text: string) => {
    const said = one("#toast");
    said.textContent = text;
    said.hidden = false;
    setTimeout(() => { said.hidden = true; }, 3_000);
  };
  const copy = async (text: string, words: string) => {
    try { await navigator.clipboard.writeText(text); toast(words); } catch { toast("The browser does not let the page copy; the address bar has the link."); }
  };
  const link = async () => `${location.origin}${location.pathname}#${await fragment(state())}`;
  one("#share").onclick = async () => {
    address.cancel();
    history.replaceState(null, "", await link());
    await copy(location.href, "The link is copied. It carries the scheme, the test, the model and the machine.");
  };
  one("#copy-command").onclick = () => copy(one("#command").textContent ?? "", "The command is copied. Download has the files that it names.");
  one("#download").onclick = async () => save("rspverify.zip", zip(files(state(), command(state(), strip.dataset.kind === "STUCK"), await link())));
  one("#help").onclick = () => one<HTMLDialogElement>("#about").showModal();
  const view = (as: "text" | "table") => {
    one("#scheme").hidden = as === "table";
    one("#table").hidden = as === "text";
    table.grow();
    one("#as-text").setAttribute("aria-pressed", `${as === "text"}`);
    one("#as-table").setAttribute("aria-pressed", `${as === "table"}`);
    try { localStorage.setItem("scheme-as", as); } catch { /* it is chosen again */ }
  };
  one("#as-text").onclick = () => view("text");
  one("#as-table").onclick = () => view("table");
  one<HTMLSelectElement>("#schemes").onchange = event => {
    const select = event.target as HTMLSelectElement;
    if (select.value) void load({ scheme: select.value });
    select.value = "";
  };
  one<HTMLInputElement>("#tests").oninput = event => {
    const input = event.target as HTMLInputElement;
    const found = tests.find(each => each === input.value);
    if (found) { void load({ test: found }); input.value = ""; }
  };
  one<HTMLInputElement>("#tests").onkeydown = event => {
    const input = event.target as HTMLInputElement;
    if (event.key !== "Enter" || !input.value) return;
    const found = tests.find(each => stem(each) === input.value) ?? tests.find(each => each.toLowerCase().includes(input.value.toLowerCase()));
    if (found) { void load({ test: found }); input.value = ""; } else toast(`No test that ships is called ${input.value}.`);
  };
  one<HTMLSelectElement>("#example").onchange = event => {
    const select = event.target as HTMLSelectElement, example = catalogue.examples[Number(select.value)];
    if (select.value && example) void load(example);
    select.value = "";
  };
  const given = async (found: Iterable<File>) => {
    for (const each of found) {
      if (each.size > 200_000) { toast(`${each.name} is too large.`); continue; }
      const text = (await each.text()).replaceAll("\r\n", "\n");
      if (each.name.endsWith(".litmus")) { test.replace(text); loaded.test = each.name; }
      else if (/\.ya?ml$/.test(each.name)) { scheme.replace(text); before = text; loaded.scheme = each.name; }
      else if (each.name.endsWith(".cat")) await own("model", text);
      else if (each.name.endsWith(".machine")) await own("machine", text);
      else toast(`${each.name}: must be a .yaml, .litmus, .cat or .machine file.`);
    }
    named();
    await now();
  };
  const opening = one<HTMLInputElement>("#open");
  opening.onchange = () => { void given([...opening.files ?? []]); opening.value = ""; };
  addEventListener("dragover", event => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
  addEventListener("drop", event => { if (event.dataTransfer?.files.length) { event.preventDefault(); void given([...event.dataTransfer.files]); } });

  /** Whatever a link carries; otherwise the first example. */
  const opened = async (): Promise<boolean> => {
    const found = await carried(location.hash.slice(1));
    if (!found || (found.scheme === undefined && found.test === undefined)) return false;
    scheme.replace(found.scheme ?? "");
    before = scheme.text;
    test.replace(found.test ?? "");
    loaded.scheme = loaded.test = "";
    named();
    models.value = catalogue.models.includes(found.model ?? "") ? found.model! : "opencl-rsp";
    machines.value = (found.machine ?? "") in catalogue.machines ? found.machine! : "";
    if (found.own_machine) await own("machine", found.own_machine);
    if (found.own_model) await own("model", found.own_model);
    showOwn();
    title();
    await now();
    return true;
  };
  addEventListener("hashchange", () => void opened());
  models.value = "opencl-rsp";
  try { if (localStorage.getItem("scheme-as") === "table") view("table"); } catch { /* as text */ }
  document.documentElement.classList.add("js");
  if (!await opened()) await load(catalogue.examples[0] ?? {});
};

start().catch(error => {
  one("#word").textContent = "ERROR";
  one("#reason").textContent = `The page could not be set up: ${error instanceof Error ? error.message : error}`;
});
