import { stringEnd } from "./string-end.ts";

/** A number of a JSON text: how it is written, where it begins, and the keys that lead to it; items of lists have none. */
export interface FoundNumber {
  literal: string;
  offset: number;
  path(): string[];
}

/** The numbers of a JSON text (RFC 8259), in their order. */
export function* numbersOf(text: string): Generator<FoundNumber> {
  const keys: (string | undefined)[] = [];
  const colon = /\s*:/y;
  const tokens = /["{}[\]]|-?\d[\d.]*(?:[eE][-+]?\d+)?/g;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const { 0: token, index } = found;
    if (token === "{" || token === "[") keys.push(undefined);
    else if (token === "}" || token === "]") keys.pop();
    else if (token !== '"')
      yield { literal: token, offset: index, path: () => keys.filter((key) => key !== undefined) };
    else {
      const end = stringEnd(text, index + 1) + 1;
      tokens.lastIndex = end;
      colon.lastIndex = end;
      if (colon.test(text)) keys[keys.length - 1] = JSON.parse(text.slice(index, end));
    }
  }
}
