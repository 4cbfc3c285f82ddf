// A link carries everything in its fragment, which browsers send to nobody.
import type { State } from "./types";

const through = async (bytes: Uint8Array, by: CompressionStream | DecompressionStream): Promise<Uint8Array> =>
  new Uint8Array(await new Response(new Blob([bytes as BlobPart]).stream().pipeThrough(by as any)).arrayBuffer());

const MOST = 2_000_000;

/** Everything, as a fragment without its `#`. */
export const fragment = async (state: State): Promise<string> => {
  const kept = Object.fromEntries(Object.entries(state).filter(([, text]) => text));
  const bytes = await through(new TextEncoder().encode(JSON.stringify(kept)), new CompressionStream("deflate-raw"));
  const text = Array.from(bytes, each => String.fromCharCode(each)).join("");
  return `1.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
};

/** What a fragment carries, null if it is none of ours. A link may be anybody's: only texts are taken of it. */
export const carried = async (text: string): Promise<Partial<State> | null> => {
  if (!text.startsWith("1.")) return null;
  try {
    const packed = atob(text.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
    const reader = new Blob([Uint8Array.from(packed, each => each.charCodeAt(0))]).stream()
      .pipeThrough(new DecompressionStream("deflate-raw") as any).pipeThrough(new TextDecoderStream() as any).getReader();
    let found = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      found += value;
      if (found.length > MOST) { await reader.cancel(); return null; }
    }
    const state: Partial<State> = {};
    const given: unknown = JSON.parse(found);
    if (typeof given !== "object" || given === null) return null;
    for (const key of ["scheme", "test", "model", "machine", "own_model", "own_machine"] as const) {
      const value = (given as Record<string, unknown>)[key];
      if (typeof value === "string") state[key] = value;
    }
    return state;
  } catch {
    return null;
  }
};
