import { stringEnd } from "./string-end.ts";

/**
 * The first key that a JSON text (RFC 8259) repeats in one object; undefined if there is none. JSON.parse silently
 * drops the earlier value.
 */
export function repeatedKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") open.push(new Set());
    else if (text[at] === "}") open.pop();
    if (text[at] !== '"') continue;
    const start = at;
    at = stringEnd(text, at + 1);
    if (!isKey(text, at + 1)) continue;
    const key: string = JSON.parse(text.slice(start, at + 1));
    const keys = open.at(-1);
    if (keys?.has(key)) return key;
    keys?.add(key);
  }
  return undefined;
}

function isKey(text: string, after: number): boolean {
  let at = after;
  while (" \n\t\r".includes(text[at] ?? "-")) at++;
  return text[at] === ":";
}
