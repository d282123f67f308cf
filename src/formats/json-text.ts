import type { JsonValue } from "../contracts/json.ts";

/** How deep what a model writes may be nested: what passes is written as JSON again, which recurses. */
const deepest = 100;

/** The value of a JSON text; undefined if it is none, or nested deeper than 100 levels. */
export function jsonOf(text: string): JsonValue | undefined {
  if (isDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON as Python and chat templates write it, with a space after each comma and colon. */
export function jsonText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${jsonText(one)}`)
    .join(", ")}}`;
}

/** The end of the object or list that begins at a place, spaces before it aside; -1 if none does, or it does not end. */
export function jsonEnd(text: string, from: number): number {
  const start = spacesEnd(text, from);
  if (text[start] !== "{" && text[start] !== "[") return -1;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const one = text[at];
    if (one === '"') {
      at = stringEnd(text, at + 1);
      if (at < 0) return -1;
    } else if (one === "{" || one === "[") depth++;
    else if ((one === "}" || one === "]") && --depth === 0) return at + 1;
  }
  return -1;
}

/** JSON values that follow each other, with spaces, commas or semicolons between; what is none ends them. */
export function jsonValues(text: string, from = 0): { values: JsonValue[]; end: number } {
  const values: JsonValue[] = [];
  for (let end = from; ; ) {
    const start = spacesEnd(text, end, ",;");
    const next = jsonEnd(text, start);
    const value = next < 0 ? undefined : jsonOf(text.slice(start, next));
    if (value === undefined) return { values, end: next < 0 && start < text.length ? start : end };
    values.push(value);
    end = next;
  }
}

/** The first place from `at` on that has no space, nor one of `others`. */
export function spacesEnd(text: string, at: number, others = ""): number {
  let end = at;
  while (end < text.length && (" \n\t\r".includes(text[end] ?? "-") || others.includes(text[end] ?? "-")))
    end++;
  return end;
}

/** Where the string ends that goes on from `at`: the place of its quote, or -1. */
function stringEnd(text: string, at: number): number {
  for (let place = at; place < text.length; place++) {
    if (text[place] === "\\") place++;
    else if (text[place] === '"') return place;
  }
  return -1;
}

function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (one === '"') {
      at = stringEnd(text, at + 1);
      if (at < 0) return false; // JSON.parse says what it is
    } else if (one === "{" || one === "[") {
      if (++depth > deepest) return true;
    } else if (one === "}" || one === "]") depth--;
  }
  return false;
}
