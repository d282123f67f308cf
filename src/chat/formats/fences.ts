/** A fenced block of code, as defined by CommonMark (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). */
export interface Fence {
  /** Where its first line begins. */
  start: number;
  /** The first word after the opening; "" if there is none. */
  language: string;
  /** Its lines without the last line end. Each is dedented by the indentation of the opening, if it has as much. */
  content: string;
  /** Where it ends, after its closing line. */
  end: number;
  /** Whether it has a closing line. Without one it extends to the end of the text. */
  closed: boolean;
}

/**
 * The fence whose first character is at an offset; undefined if none begins there. A fence begins a line, after at
 * most three spaces.
 */
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

/** The fence characters for a text: more than begin any of its lines. */
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

/** The line at an offset without its line end, where it ends, and where the next one begins. */
function lineAt(text: string, at: number): { line: string; end: number; next: number } {
  const found = text.indexOf("\n", at);
  const end = found < 0 ? text.length : found;
  return { line: text.slice(at, end).replace(/\r$/, ""), end, next: Math.min(end + 1, text.length) };
}
