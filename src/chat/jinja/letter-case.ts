import { characters } from "./text.ts";

/** Characters whose title case differs from their upper case, each followed by its title case. */
const titled = new Map(
  "ǄǅǅǅǆǅǇǈǈǈǉǈǊǋǋǋǌǋǱǲǲǲǳǲ".match(/../gu)?.map((pair) => [pair[0] ?? "", pair[1] ?? ""]),
);

/** A character's Unicode title case: "ß" becomes "Ss", "ǆ" becomes "ǅ". */
function titleOf(character: string): string {
  const known = titled.get(character);
  if (known !== undefined) return known;
  if (/[\u10d0-\u10fa\u10fd-\u10ff]/.test(character)) return character; // Georgian has no title case
  if (/[\u1f80-\u1faf\u1fb3\u1fbc\u1fc3\u1fcc\u1ff3\u1ffc]/.test(character)) return withIotaBelow(character);
  const [first = "", ...rest] = characters(character.toUpperCase());
  return first + rest.join("").toLowerCase();
}

/** Greek letters with iota subscript keep it in title case. */
function withIotaBelow(character: string): string {
  const code = character.charCodeAt(0);
  if (code <= 0x1faf) return String.fromCharCode(code | 8);
  return String.fromCharCode(code & 0xf ? (code & ~0xf) | 0xc : code);
}

/** Python's `capitalize`. */
export function capitalized(text: string): string {
  return changed(text, (character, at) => (at === 0 ? titleOf(character) : lowerAt(text, at, character)));
}

/** The lower case of the character at an offset in a text. A sigma at the end of a word has its own form. */
function lowerAt(text: string, at: number, character: string): string {
  if (character !== "Σ") return character.toLowerCase();
  const ends = /\p{Cased}\p{Case_Ignorable}*$/u.test(text.slice(0, at));
  const goesOn = /^\p{Case_Ignorable}*\p{Cased}/u.test(text.slice(at + 1));
  return ends && !goesOn ? "ς" : "σ";
}

/** Maps each character with its offset. */
function changed(text: string, change: (character: string, at: number) => string): string {
  let result = "";
  let at = 0;
  for (const character of text) {
    result += change(character, at);
    at += character.length;
  }
  return result;
}

/** Whether Python counts a character as having case. */
const isCased = (character: string) =>
  /[\p{Lu}\p{Ll}\p{Lt}]/u.test(character) || /\p{Cased}/u.test(character);

/** Python's `str.title`: a letter after a cased one becomes lower case, and other letters begin a word. */
export function titleCased(text: string): string {
  let afterCased = false;
  return changed(text, (character, at) => {
    const result = afterCased ? lowerAt(text, at, character) : titleOf(character);
    afterCased = isCased(character);
    return result;
  });
}

/** Python's `swapcase`. */
export function swapCased(text: string): string {
  return changed(text, (character, at) => {
    if (/\p{Uppercase}/u.test(character)) return lowerAt(text, at, character);
    return /\p{Lowercase}/u.test(character) ? character.toUpperCase() : character;
  });
}

/** Python's `islower` and `isupper`: the text has at least one character of this case, and none of the other. */
export function isAll(text: string, wanted: "lower" | "upper"): boolean {
  const [own, other] =
    wanted === "lower"
      ? [/\p{Lowercase}/u, /[\p{Uppercase}\p{Lt}]/u]
      : [/\p{Uppercase}/u, /[\p{Lowercase}\p{Lt}]/u];
  return own.test(text) && !other.test(text);
}

/** Python's `istitle`. */
export function isTitle(text: string): boolean {
  let afterCased = false;
  let found = false;
  for (const character of text) {
    const upper = /[\p{Uppercase}\p{Lt}]/u.test(character);
    const lower = /\p{Lowercase}/u.test(character);
    if ((upper && afterCased) || (lower && !afterCased)) return false;
    afterCased = upper || lower;
    found ||= afterCased;
  }
  return found;
}
