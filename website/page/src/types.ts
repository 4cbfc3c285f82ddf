// What the server says, as rspverify/server/answering.py and catalogue.py have it.

export interface Place { line: number; column: number; end_line: number; end_column: number }
export interface Problem { file: string; place: Place | null; message: string; hint: string; severity: "error" | "unsupported"; text: string }
export interface TableRow { fields: Record<string, string>; words: string; place: Place }
/** columns: the keys of its rows that are shown; runs_on: its machine or target. */
export interface Table { name: string; runs_on: string; columns: string[]; rows: TableRow[] }
export interface Read { problems: Problem[]; table: Table | null; title: string | null }
export interface Verdict {
  verdict: string; progress: string | null; claim: string; test: string; reason: string;
  progress_reason: string; seconds: number; going_on: boolean;
}
export interface Answer { html: string; rows: number[] }
/** What is known of all programs of a scheme: texts with their kinds. */
export interface Proof { line: [text: string, kind: string][]; html: string }
export interface Cell { file: string; kind: string; words: string; why: string; cached: boolean; done: number }
export interface Example { title: string; about: string; scheme: string; test: string; model: string }
export interface Catalogue {
  schemes: string[]; corpora: Record<string, string[]>; models: string[]; machines: Record<string, string>;
  examples: Example[];
  words: {
    keys: string[]; row_keys: string[]; op: string[]; scope: string[]; order: Record<string, string[]>; remote: string[];
    targets: string[]; instructions: Record<string, string[]>; functions: string[]; constants: string[]; types: string[];
  };
}

/** What the page is about, and what a link carries. An empty text of one's own is none. */
export interface State {
  scheme: string; test: string; model: string; machine: string; own_model: string; own_machine: string;
}
export interface Question extends State { kind: string; before?: string; corpus?: string; operations?: number; threads?: number }
