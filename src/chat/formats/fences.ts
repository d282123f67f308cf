/** A fenced block of code, as CommonMark has it (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). */
export interface Fence {
  /** Where its line begins. */
  start: number;
  /** The first word after its opening; "" if there is none. */
  language: string;
  /** Its lines, without the last one's end. Each has as many spaces less at its beginning as the opening has there. */
  content: string;
  /** Where it ends, its closing line included. */
  end: number;
  /** Without a closing line it goes on to the text's end. */
  closed: boolean;
}

/** The fence whose first sign stands at a place; undefined if none begins there: it begins a line, after three spaces at most. */
export function fenceAt(text: string, at: number): Fence | undefined {
  const [indent] = /(?<=^|\n) {0,3}$/.exec(text.slice(Math.max(0, at - 4), at)) ?? [];
  if (indent === undefined) return undefined;
  const opening = lineAt(text, at);
  const [, fence = "", info = ""] = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(opening.line) ?? [];
  if (fence === "") return undefined;
  const start = at - indent.length;
  const language = info.trim().split(/\s/, 1)[0] ?? "";
  const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`);
  const lines: string[] = [];
  for (let place = opening.next; place <= text.length; ) {
    const { line, end, next } = lineAt(text, place);
    if (closing.test(line))
      return { start, language, content: contentOf(lines), end: place + line.length, closed: true };
    lines.push(text.slice(place, next).replace(new RegExp(`^ {0,${indent.length}}`), ""));
    if (end === text.length) break;
    place = next;
  }
  return { start, language, content: contentOf(lines), end: text.length, closed: false };
}

/** Signs that fence a text: more of them than begin any of its lines. */
export function fenceFor(text: string): string {
  const longest = Math.max(
    2,
    ...[...text.matchAll(/^ {0,3}(`{3,})/gm)].map(([, signs = ""]) => signs.length),
  );
  return "`".repeat(longest + 1);
}

function contentOf(lines: string[]): string {
  return lines.join("").replace(/\r?\n$/, "");
}

/** The line at a place, without its end, where that is, and where the next one begins. */
function lineAt(text: string, at: number): { line: string; end: number; next: number } {
  const found = text.indexOf("\n", at);
  const end = found < 0 ? text.length : found;
  return { line: text.slice(at, end).replace(/\r$/, ""), end, next: Math.min(end + 1, text.length) };
}
