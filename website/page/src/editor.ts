// A text that is edited: its mistakes at their places, and the line that an execution is at.
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField, Transaction, type ChangeDesc, type Text } from "@codemirror/state";
import {
  Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, type DecorationSet,
} from "@codemirror/view";
import { languageOf, type Kind } from "./languages";
import type { Catalogue, Place, Problem } from "./types";

const due = StateEffect.define<number | null>();
const dueLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (shown, change) => {
    let now = shown.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(due)) continue;
      const line = effect.value;
      now = line && line <= change.state.doc.lines
        ? Decoration.set(Decoration.line({ class: "due" }).range(change.state.doc.line(line).from)) : Decoration.none;
    }
    return now;
  },
  provide: field => EditorView.decorations.from(field),
});

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "13px", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selected)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "4px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--focus)", color: "var(--paper)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap" },
});

export class Editor {
  readonly view: EditorView;
  #silent = false;

  constructor(
    readonly kind: Kind, parent: HTMLElement, label: string, nonce: string, catalogue: Catalogue, machine: () => string,
    private readonly changed: (by: ChangeDesc) => void,
  ) {
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(nonce), lineNumbers(), highlightActiveLineGutter(), history(), drawSelection(), bracketMatching(),
          closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(), dueLine, theme,
          languageOf(kind, catalogue, machine),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          EditorView.updateListener.of(update => { if (update.docChanged && !this.#silent) this.changed(update.changes); }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  get doc(): Text {
    return this.view.state.doc;
  }

  /** Puts another text in place of all; nobody is told. */
  replace(text: string): void {
    if (text === this.text) return;
    this.#silent = true;
    this.view.dispatch({
      changes: { from: 0, to: this.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true,
      annotations: Transaction.addToHistory.of(true),
    });
    this.#silent = false;
  }

  /** Changes a part, as if it were typed. */
  edit(from: number, to: number, insert: string): void {
    this.view.dispatch({ changes: { from, to, insert }, userEvent: "input" });
  }

  /** Where a place begins and ends; what is beyond the text is its end. */
  range(place: Place): [from: number, to: number] {
    const at = (line: number, column: number) => {
      if (line > this.doc.lines) return this.doc.length;
      const found = this.doc.line(Math.max(1, line));
      return found.from + offset(found.text, column - 1);
    };
    const from = at(place.line, place.column);
    return [from, Math.max(from, at(place.end_line, place.end_column))];
  }

  mark(problems: Problem[]): void {
    const shown = problems.map((each): Diagnostic => {
      const [from, to] = each.place ? this.range(each.place) : [0, Math.min(this.doc.length, this.doc.line(1).to)];
      const last = each.place ? to : Math.min(to, this.doc.length);
      const end = Math.min(last, this.doc.lineAt(from).to);
      return {
        from, to: Math.max(end, Math.min(from + (from < this.doc.lineAt(from).to ? 1 : 0), this.doc.length)),
        severity: each.severity === "error" ? "error" : "warning", message: each.hint ? `${each.message}\n${each.hint}` : each.message,
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, shown));
  }

  /** Marks the line that an execution is at. */
  due(line: number | null): void {
    this.view.dispatch({ effects: due.of(line) });
  }

  go(place: Place | null): void {
    const from = place ? this.range(place)[0] : 0;
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }
}

/** The place in a line after so many characters as the server counts them, which are code points. */
const offset = (line: string, characters: number): number => {
  let place = 0;
  for (const each of line) {
    if (characters-- <= 0) break;
    place += each.length;
  }
  return place;
};
