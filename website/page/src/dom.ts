// Making and finding elements. Texts are only ever set as text; markup comes from the server's templates alone.

export const make = <K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

export const one = <E extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): E => {
  const found = within.querySelector<E>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
};

export const all = <E extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): E[] =>
  [...within.querySelectorAll<E>(selector)];

/** Calls once, so many milliseconds after the last time that it was asked to. */
export const settled = (milliseconds: number, call: () => void): (() => void) & { cancel(): void } => {
  let timer = 0;
  const later = () => { clearTimeout(timer); timer = window.setTimeout(call, milliseconds); };
  return Object.assign(later, { cancel: () => clearTimeout(timer) });
};

export const stem = (path: string): string => path.replace(/^.*\//, "").replace(/\.\w+$/, "");
export const counted = (number: number, noun: string): string => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
