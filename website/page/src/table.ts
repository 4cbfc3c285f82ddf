// The scheme as a table. What is changed in it is changed in the text, row by row; the rest of the text stays as it is.
import type { ChangeDesc } from "@codemirror/state";
import { all, make } from "./dom";
import type { Editor } from "./editor";
import type { Catalogue, Problem, Table, TableRow } from "./types";

interface Row { from: number; to: number; fields: Record<string, string>; words: string }

const HEADS: Record<string, string> = { op: "operation", from: "instruction" };

export class TableView {
  #rows: Row[] = [];
  #fault: number[] = [];
  #runsOn = "rsp";
  #columns: string[] = [];
  readonly #note = make("p", { className: "table-note" });

  constructor(private readonly place: HTMLElement, private readonly editor: Editor, private readonly catalogue: Catalogue) {
    new ResizeObserver(() => this.grow()).observe(place);
  }

  /** Rows stay where they are in the text while other parts of it change. */
  moved(by: ChangeDesc): void {
    for (const row of this.#rows) [row.from, row.to] = [by.mapPos(row.from, 1), by.mapPos(row.to, -1)];
  }

  show(table: Table | null, problems: Problem[]): void {
    const wrong = problems.filter(each => each.file.endsWith(".yaml"));
    if (table) {
      this.#runsOn = table.runs_on;
      const rows = table.rows.map((each): Row => ({ ...this.#extent(each), fields: each.fields, words: each.words }));
      const same = rows.length === this.#rows.length && `${table.columns}` === `${this.#columns}` && this.place.contains(document.activeElement);
      this.#rows = rows;
      this.#columns = table.columns;
      if (same) this.#refill(); else this.#draw();
    }
    this.#note.textContent = wrong.length && !table ? "The table shows the scheme as it was; what is wrong must be mended first." : "";
    const marked = new Set<number>();
    for (const each of wrong) {
      if (!each.place) continue;
      const at = this.editor.range(each.place)[0];
      this.#rows.forEach((row, number) => { if (row.from <= at && at < row.to) marked.add(number); });
    }
    all("tbody tr", this.place).forEach((row, number) => {
      row.classList.toggle("wrong", marked.has(number));
      row.title = wrong.filter(each => each.place && this.#rows[number] && this.editor.range(each.place)[0] >= this.#rows[number].from
        && this.editor.range(each.place)[0] < this.#rows[number].to).map(each => each.message).join("\n");
    });
  }

  /** Marks the rows at fault, by their numbers from 1. */
  fault(rows: number[]): void {
    this.#fault = rows;
    all("tbody tr", this.place).forEach((row, number) => row.classList.toggle("fault", rows.includes(number + 1)));
  }

  /** The machine or target that its code is for. */
  get runsOn(): string {
    return this.#runsOn;
  }

  /** Puts another code into a row. */
  code(number: number, code: string[]): void {
    const row = this.#rows[number - 1];
    if (row) this.#write(row, { ...row.fields, code: `[${code.join(", ")}]` });
  }

  /** A row of the text without what follows it: blank lines and comments belong to the next. */
  #extent(row: TableRow): { from: number; to: number } {
    const [from, to] = this.editor.range(row.place);
    const lines = this.editor.doc.sliceString(from, to).split("\n");
    while (lines.length > 1 && /^\s*(#.*)?$/.test(lines.at(-1)!)) lines.pop();
    return { from, to: from + lines.join("\n").trimEnd().length };
  }

  #write(row: Row, fields: Record<string, string>): void {
    const items = Object.entries(fields).filter(([, text]) => text.trim()).map(([key, text]) => `${key}: ${text.trim()}`);
    const line = this.editor.doc.lineAt(row.from), indent = " ".repeat(row.from - line.from + 1);
    let text = `{${items.join(", ")}}`;
    if (indent.length + text.length > 100) text = `{${items.slice(0, -1).join(", ")},\n${indent}${items.at(-1)}}`;
    row.fields = fields;
    this.editor.edit(row.from, row.to, text);
  }

  #draw(): void {
    const head = make("tr", {}, make("th", { scope: "col", className: "number", textContent: "row" }),
      ...this.#columns.map(each => make("th", { scope: "col", textContent: HEADS[each] ?? each })), make("th", { scope: "col", ariaLabel: "remove" }));
    const body = make("tbody", {}, ...this.#rows.map((row, number) => this.#line(row, number)));
    const add = make("button", { type: "button", className: "quiet", textContent: "+ row" });
    add.onclick = () => this.#add();
    this.place.replaceChildren(make("div", { className: "wide" }, make("table", { className: "scheme" }, make("thead", {}, head), body)), add, this.#note);
    this.fault(this.#fault);
    this.grow();
  }

  /** Fits the codes to the width that there is now. */
  grow(): void {
    all<HTMLTextAreaElement>("textarea", this.place).forEach(grow);
  }

  #line(row: Row, number: number): HTMLTableRowElement {
    const cells = this.#columns.map(key => {
      const label = `row ${number + 1}: ${HEADS[key] ?? key}`;
      const input = key === "op" || key === "remote" ? this.#choice(key, row) : key === "code" ? this.#code(row) : this.#text(key, row);
      input.ariaLabel = label;
      input.name = key;
      return make("td", { className: key }, input);
    });
    const remove = make("button", { type: "button", className: "quiet", textContent: "×", title: `remove row ${number + 1}`, ariaLabel: `remove row ${number + 1}` });
    remove.onclick = () => this.#remove(number);
    return make("tr", {}, make("td", { className: "number", textContent: `${number + 1}` }), ...cells, make("td", {}, remove));
  }

  #choice(key: "op" | "remote", row: Row): HTMLSelectElement {
    const values = key === "op" ? this.catalogue.words.op : ["", "false", "true"];
    const words: Record<string, string> = key === "remote" ? { "": "either", false: "no", true: "yes" } : {};
    const select = make("select", {}, ...values.map(value => make("option", { value, textContent: words[value] ?? value })));
    select.value = row.fields[key] ?? "";
    select.onchange = () => this.#set(select, key, select.value);
    return select;
  }

  #text(key: string, row: Row): HTMLInputElement {
    const input = make("input", { type: "text", value: plain(row.fields[key] ?? ""), spellcheck: false, autocomplete: "off" });
    if (key === "order") input.placeholder = "default";
    input.oninput = () => this.#set(input, key, key === "from" ? input.value : listed(input.value));
    return input;
  }

  /** A code is as high as it must be to be seen whole. */
  #code(row: Row): HTMLTextAreaElement {
    const input = make("textarea", { value: plain(row.fields["code"] ?? ""), spellcheck: false, rows: 1 });
    input.oninput = () => { grow(input); this.#set(input, "code", `[${input.value.replaceAll("\n", " ")}]`); };
    input.onkeydown = event => { if (event.key === "Enter") event.preventDefault(); };
    return input;
  }

  /** The row is found by where its element is, as rows may have been drawn before others were added. */
  #set(input: HTMLElement, key: string, text: string): void {
    const number = all("tbody tr", this.place).indexOf(input.closest("tr")!), row = this.#rows[number];
    if (!row) return;
    const { code, ...others } = { ...row.fields, [key]: text };
    this.#write(row, { ...others, code: code ?? "[]" });
  }

  #refill(): void {
    all<HTMLTableRowElement>("tbody tr", this.place).forEach((line, number) => {
      const row = this.#rows[number]!;
      for (const input of all<HTMLInputElement>("input, select, textarea", line)) {
        if (input === document.activeElement) continue;
        const value = row.fields[input.name] ?? "";
        input.value = input.tagName === "SELECT" ? value : plain(value);
      }
    });
    this.grow();
  }

  #add(): void {
    const { doc } = this.editor, last = this.#rows.at(-1);
    const at = last ? doc.lineAt(last.to).to : doc.length;
    const text = !last || this.#columns.includes("remote") ? "{op: load, scope: dv, remote: false, code: [LD r x]}"
      : `{${Object.entries(last.fields).map(([key, value]) => `${key}: ${value}`).join(", ")}}`;
    const indent = last ? /^\s*/.exec(doc.lineAt(last.from).text)![0] : "  ";
    this.editor.edit(at, at, `\n${indent}- ${text}`);
  }

  #remove(number: number): void {
    const row = this.#rows[number], { doc } = this.editor;
    if (!row) return;
    const from = doc.lineAt(row.from).from, to = doc.lineAt(row.to).to;
    this.editor.edit(Math.max(0, from - 1), to, "");
  }
}

const grow = (input: HTMLTextAreaElement): void => {
  input.style.height = "auto";
  if (input.scrollHeight) input.style.height = `${input.scrollHeight + 2}px`;
};
const plain = (text: string): string => text.replace(/^\[|\]$/g, "");
const listed = (text: string): string => text.includes(",") ? `[${text}]` : text;
