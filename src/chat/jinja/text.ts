import { spend } from "./budget.ts";

/** Python's white space, as a class of a regular expression. */
export const space =
  "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

const spacesBefore = new RegExp(`^${space}+`, "u");
const isSpaceText = new RegExp(`^${space}+$`, "u");
const spaceCharacter = new RegExp(`^${space}$`, "u");

export const trimStart = (text: string): string => text.replace(spacesBefore, "");

export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && spaceCharacter.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

export const isSpace = (text: string): boolean => isSpaceText.test(text);

/** Whether a text is a Python identifier. */
export const isIdentifier = (text: string): boolean => /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(text);

const half = /[\ud800-\udfff]/;

/** A text's characters (code points). */
export function characters(text: string): string[] {
  spend(text.length / 4);
  return half.test(text) ? [...text] : text.split("");
}

/** The number of characters (code points) in a text. */
export function lengthOf(text: string): number {
  spend(text.length / 64);
  return half.test(text) ? characters(text).length : text.length;
}

/** A text without the characters of `removed` (null for white space) at its ends. */
export function stripped(text: string, removed: string | null, sides: "both" | "left" | "right"): string {
  if (removed === null) {
    const rest = sides === "right" ? text : trimStart(text);
    return sides === "left" ? rest : trimEnd(rest);
  }
  const known = new Set(characters(removed));
  const all = characters(text);
  let start = 0;
  let end = all.length;
  if (sides !== "right") while (start < end && known.has(all[start] ?? "")) start++;
  if (sides !== "left") while (end > start && known.has(all[end - 1] ?? "")) end--;
  return all.slice(start, end).join("");
}

/** Splits a text at white space, at most `most` times, like Python's `split` and `rsplit`. */
export function splitAtSpace(text: string, most = -1, fromRight = false): string[] {
  const words = [...text.matchAll(new RegExp(`${space.replace("[", "[^")}+`, "gu"))];
  if (most < 0 || words.length <= most) return words.map(([word]) => word);
  const all = words.map(([word]) => word);
  if (fromRight) {
    const kept = words.length - most;
    const last = words[kept - 1];
    const rest = last === undefined ? "" : text.slice(0, last.index + last[0].length);
    return [rest, ...all.slice(kept)];
  }
  return [...all.slice(0, most), text.slice(words[most]?.index)];
}

/** Splits a text at `separator`, at most `most` times. */
export function splitAt(text: string, separator: string, most = -1, fromRight = false): string[] {
  const parts = text.split(separator);
  if (most < 0 || parts.length <= most + 1) return parts;
  if (fromRight) {
    const rest = parts.splice(0, parts.length - most).join(separator);
    return [rest, ...parts];
  }
  const rest = parts.splice(most).join(separator);
  return [...parts, rest];
}

const lineEnd = "\\r\\n|[\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]";

/** Splits a text into lines like Python's `splitlines`. */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const { 0: end, index } of text.matchAll(new RegExp(lineEnd, "g"))) {
    lines.push(text.slice(start, keepEnds ? index + end.length : index));
    start = index + end.length;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/**
 * Replaces the first `count` occurrences; all if it is negative. An empty text occurs before each character and at
 * the end.
 */
export function replaced(text: string, old: string, fresh: string, count: number): string {
  if (count === 0) return text;
  if (old !== "") {
    return count < 0 ? text.split(old).join(fresh) : splitAt(text, old, count).join(fresh);
  }
  const all = characters(text);
  const most = count < 0 ? all.length + 1 : Math.min(count, all.length + 1);
  const parts = all.map((character, at) => (at < most ? fresh : "") + character);
  return parts.join("") + (most > all.length ? fresh : "");
}

/** Compares texts by code points. JavaScript compares UTF-16 units. */
export function compareTexts(one: string, other: string): number {
  spend(Math.min(one.length, other.length) / 64);
  if (one === other) return 0;
  if (!half.test(one) && !half.test(other)) return one < other ? -1 : 1;
  const [left, right] = [characters(one), characters(other)];
  for (const [at, character] of left.entries()) {
    const against = right[at];
    if (against === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (against.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return -1;
}

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&#39;",
  '"': "&#34;",
};

/** Escapes a text for HTML. */
export const escapedHtml = (text: string): string =>
  text.replaceAll(/[&<>'"]/g, (mark) => escapes[mark] ?? mark);
