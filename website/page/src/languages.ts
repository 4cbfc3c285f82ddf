// How texts are coloured, and what may be typed next.
import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import type { Catalogue } from "./types";

export type Kind = "scheme" | "test" | "model" | "machine";

const colours = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.definition(tags.propertyName), tags.propertyName], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool], color: "var(--code-number)" },
  { tag: [tags.function(tags.variableName), tags.standard(tags.variableName)], color: "var(--code-call)" },
  { tag: tags.typeName, color: "var(--code-type)" },
]));

interface Commented { depth: number }

/** A language by its words; comments nest, as herd's do. */
const language = (keywords: RegExp, types: RegExp, calls: RegExp, lineComment: RegExp | null): StreamParser<Commented> => ({
  startState: () => ({ depth: 0 }),
  token: (stream, state) => {
    if (state.depth || stream.match("(*")) {
      if (!state.depth) state.depth = 1;
      while (!stream.eol()) {
        if (stream.match("(*")) state.depth++;
        else if (stream.match("*)")) { if (!--state.depth) break; } else stream.next();
      }
      return "comment";
    }
    if (lineComment && stream.match(lineComment)) { stream.skipToEnd(); return "comment"; }
    if (stream.match(/^"[^"]*"?/)) return "string";
    if (stream.match(/^\d\w*/)) return "number";
    const word = stream.match(/^[A-Za-z_][\w.-]*/) as RegExpMatchArray | null;
    if (word) return keywords.test(word[0]) ? "keyword" : types.test(word[0]) ? "typeName" : calls.test(word[0]) ? "variableName.function" : "variableName";
    stream.next();
    return null;
  },
});

const LANGUAGES: Record<Kind, () => Extension> = {
  scheme: () => yaml(),
  test: () => new LanguageSupport(StreamLanguage.define(language(
    /^(OpenCL|C|PTX|exists|forall|if|else|while|for|do|return|break|scopeTree|device|work_group|locations)$/,
    /^(global|local|kernel|int|atomic_int|void|const|volatile|memory_\w+)$/, /^(atomic_|barrier|work_group_barrier)/, /^\/\//))),
  model: () => new LanguageSupport(StreamLanguage.define(language(
    /^(let|rec|and|in|include|acyclic|irreflexive|empty|as|show|unshow|flag|undefined_unless|with|from)$/, /^$/, /^$/, /^\/\//))),
  machine: () => new LanguageSupport(StreamLanguage.define(language(
    /^(machine|places|state|instruction|instructions|step|steps|when|do|define|include|switch|on|complete|if|else|for|each|some|not|and|or|spaces)$/, /^(bit|value|lock|fifo|pool)$/, /^$/, /^(#|\/\/)/))),
};

const words = (from: Iterable<string>, type: string): Completion[] => [...from].map(label => ({ label, type }));

/** What may stand where the cursor is in a scheme: a key, or a word of the key that is before it. */
const ofSchemes = (catalogue: Catalogue, machine: () => string) => (context: CompletionContext): CompletionResult | null => {
  const { words: known } = catalogue, text = context.state.sliceDoc(Math.max(0, context.pos - 2_000), context.pos);
  const key = /(?:^|[\s{,])(\w+):\s*(\[[^\]]*|[^,{}\[\]\n]*)$/.exec(text);
  const inCode = /code:\s*\[([^\]]*)$/.exec(text);
  if (inCode) {
    const typed = /[^,\s[][^,[]*$|$/.exec(inCode[1]!)![0];
    const instructions = known.instructions[machine()] ?? known.instructions["rsp"] ?? [];
    return { from: context.pos - typed.length, options: words(instructions, "function"), validFor: /^[^,\]]*$/ };
  }
  const word = context.matchBefore(/[\w-]*$/);
  if (!word || (!context.explicit && word.from === word.to)) return null;
  if (key && /^[\[\s\w,-]*$/.test(key[2]!)) {
    const op = /op:\s*(\w+)[^{}]*$/.exec(text)?.[1] ?? "load";
    const choices: Record<string, string[]> = {
      op: known.op, scope: known.scope, remote: known.remote, machine: Object.keys(catalogue.machines),
      target: known.targets, from: known.targets, under: catalogue.models,
      order: known.order[op] ?? [...new Set(Object.values(known.order).flat())], memory: ["global", "local"], result: ["used", "unused"],
    };
    const found = choices[key[1]!];
    return found ? { from: word.from, options: words(found, "enum"), validFor: /^[\w-]*$/ } : null;
  }
  const line = context.state.doc.lineAt(context.pos);
  const keys = /^\w*$/.test(line.text.slice(0, context.pos - line.from)) ? known.keys : known.row_keys;
  return { from: word.from, options: keys.map(each => ({ label: each, type: "property", apply: `${each}: ` })), validFor: /^\w*$/ };
};

const ofTests = (catalogue: Catalogue) => {
  const { functions, constants, types } = catalogue.words;
  const options = [...words(functions, "function"), ...words(constants, "constant"), ...words(types, "type")];
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/\w+$/);
    return word && word.to - word.from > 2 ? { from: word.from, options, validFor: /^\w*$/ } : null;
  };
};

export const languageOf = (kind: Kind, catalogue: Catalogue, machine: () => string): Extension => {
  const sources = kind === "scheme" ? [ofSchemes(catalogue, machine)] : kind === "test" ? [ofTests(catalogue)] : [];
  return [LANGUAGES[kind](), colours, autocompletion({ override: sources, icons: false })];
};
