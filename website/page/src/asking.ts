// Questions to the server, and the events of their answers.
import type { Question } from "./types";

const page = crypto.randomUUID?.() ?? `${Math.random()}`;

export class Failed extends Error {}

/** Each event of an answer, as it comes. Aborting the signal ends it, on the server too. */
export async function* ask(question: Question, signal: AbortSignal): AsyncGenerator<[name: string, data: any]> {
  let response: Response;
  for (let tries = 0; ; tries++) {
    try {
      response = await fetch("ask", {
        method: "POST", signal, body: JSON.stringify(question),
        headers: { "Content-Type": "application/json", "X-Page": page },
      });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Failed("The server does not answer. Is rspverify serve still running?");
    }
    if (response.status !== 503 || tries > 4) break;
    await new Promise(after => setTimeout(after, 300 * 2 ** tries * (1 + Math.random())));
    signal.throwIfAborted();
  }
  if (!response.ok || !response.body) throw new Failed(await response.text());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", ended = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done && ended) return;
      if (done) throw new Failed("The answer broke off.");
      rest += value;
      const parts = rest.split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const found = /^event: (.*)\ndata: ([^]*)$/.exec(part);
        if (!found) continue;
        const [name, data] = [found[1]!, JSON.parse(found[2]!)];
        if (name === "end") { ended = true; continue; }
        if (name === "failed") throw new Failed(data.message);
        yield [name, data];
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export const file = async (name: string): Promise<string> => {
  const response = await fetch(`files/${name.split("/").map(encodeURIComponent).join("/")}`);
  if (!response.ok) throw new Failed(`${name}: ${await response.text()}`);
  return response.text();
};
