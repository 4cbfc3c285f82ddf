// Everything as files: a zip of texts that are stored as they are, and the command line that shows the same.
import type { State } from "./types";

const table = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
const checksum = (bytes: Uint8Array): number => {
  let value = 0xffffffff;
  for (const each of bytes) value = (value >>> 8) ^ table[(value ^ each) & 255]!;
  return (value ^ 0xffffffff) >>> 0;
};

/** A zip of texts by name, without compression. */
export const zip = (texts: Record<string, string>): Blob => {
  const parts: Uint8Array[] = [], entries: Uint8Array[] = [];
  let place = 0;
  for (const [name, text] of Object.entries(texts)) {
    const title = new TextEncoder().encode(name), bytes = new TextEncoder().encode(text);
    const common = [20, 0x0800, 0, 0, 0x21, checksum(bytes), bytes.length, bytes.length, title.length, 0];
    const head = packed([0x04034b50, ...common], [4, 2, 2, 2, 2, 2, 4, 4, 4, 2, 2]);
    entries.push(packed([0x02014b50, 20, ...common, 0, 0, 0, 0, place], [4, 2, 2, 2, 2, 2, 2, 4, 4, 4, 2, 2, 2, 2, 2, 4, 4]), title);
    parts.push(head, title, bytes);
    place += head.length + title.length + bytes.length;
  }
  const size = entries.reduce((sum, each) => sum + each.length, 0), count = entries.length / 2;
  const end = packed([0x06054b50, 0, 0, count, count, size, place, 0], [4, 2, 2, 2, 2, 4, 4, 2]);
  return new Blob([...parts, ...entries, end] as BlobPart[], { type: "application/zip" });
};

const packed = (values: number[], sizes: number[]): Uint8Array => {
  const view = new DataView(new ArrayBuffer(sizes.reduce((sum, each) => sum + each, 0)));
  let place = 0;
  values.forEach((value, number) => {
    if (sizes[number] === 4) view.setUint32(place, value, true);
    else view.setUint16(place, value, true);
    place += sizes[number]!;
  });
  return new Uint8Array(view.buffer);
};

/** The command that shows the same where the files are. */
export const command = (state: State, progress: boolean): string => {
  const words = ["rspverify explain", ...(progress ? ["--progress"] : []), "scheme.yaml test.litmus"];
  if (state.own_model) words.push("--model own.cat");
  else if (state.model !== "opencl-rsp") words.push(`--model ${state.model}`);
  if (state.own_machine) words.push("--machine own.machine");
  else if (state.machine) words.push(`--machine ${state.machine}`);
  return words.join(" ");
};

export const files = (state: State, line: string, link: string): Record<string, string> => ({
  "scheme.yaml": state.scheme,
  "test.litmus": state.test,
  ...(state.own_model && { "own.cat": state.own_model }),
  ...(state.own_machine && { "own.machine": state.own_machine }),
  "README.txt": `To see the same in a terminal, in this folder:\n\n    ${line}\n\nThe page that this is from:\n\n${link}\n`,
});

export const save = (name: string, content: Blob): void => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
};
