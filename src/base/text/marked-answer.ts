import { lastBoxed, lastBoxedList } from "./last-boxed.ts";

/** The answer that a text marks. */
export interface MarkedAnswer {
  text: string;
  /** Whether it was in `\boxed{…}` or `\fbox{…}`, which makes it mathematics. */
  isBoxed: boolean;
}

/**
 * Returns the answer that a text marks: the content of its last `\boxed{…}` or `\fbox{…}`, else of its last
 * `<answer>…</answer>`, else the text after `####` in its last line; undefined if it marks none. If the ground truth
 * is a list, boxes that commas or “and” join are a list too.
 */
export function markedAnswer(text: string, groundTruth = ""): MarkedAnswer | undefined {
  const boxed = isList(groundTruth) ? lastBoxedList(text) : lastBoxed(text);
  if (boxed !== undefined) return { text: boxed, isBoxed: true };
  const marked = lastTagged(text) ?? /####([^\n]*)$/.exec(text.trimEnd())?.[1];
  return marked === undefined ? undefined : { text: marked.trim(), isBoxed: false };
}

function lastTagged(text: string): string | undefined {
  const end = text.lastIndexOf("</answer>");
  const start = end < 0 ? -1 : text.lastIndexOf("<answer>", end);
  return start < 0 ? undefined : text.slice(start + "<answer>".length, end);
}

/** Whether a ground truth has several values: “1, 2”, “\{1, 2\}” and “1 ± 2” do; “(1, 2)” and “1,000” don't. */
function isList(groundTruth: string): boolean {
  const text = lastBoxedList(groundTruth) ?? groundTruth;
  const plain = text.replace(/(\d)(?:\{,\}|,)(?:\\!)?\s?(?=\d{3}(?!\d))/g, "$1").trim();
  if (/\\pm|±|\\(?:text|mbox)\s*\{\s*(?:and|or)\s*\}/.test(plain)) return true;
  const inside = plain.replace(/^[$\s]*(?:\\(?:left\\)?)?\{|(?:\\(?:right\\)?)?\}[$\s]*$/g, "");
  return /[,;]|\b(?:and|or)\b/.test(withoutBrackets(inside));
}

/** The text outside of all brackets. */
function withoutBrackets(text: string): string {
  let depth = 0;
  let outside = "";
  for (const character of text) {
    if ("([{".includes(character)) depth++;
    if (depth === 0) outside += character;
    if (")]}".includes(character)) depth--;
  }
  return outside;
}
