/** The names of each language after an opening fence. */
const tags: Readonly<Record<string, readonly string[]>> = {
  python: ["python", "py", "python3"],
  javascript: ["javascript", "js", "node"],
  shell: ["shell", "sh", "bash"],
};

interface Block {
  tag: string;
  code: string;
}

/**
 * An opening fence with the text before and after it: at the start of a line as in CommonMark, or after a
 * sentence.
 */
const opening = /^(\s*|[^`]*[^`\s]\s*)(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
/** Code between fences on one line. */
const inline = /(?<!`)(`{3,})([^`\n]+)\1(?!`)/g;

/**
 * Returns the code of an answer: its last fenced block in the language, or else its last block, or else code
 * between fences on one line, or else the whole answer. `extract: whole` always returns the whole answer.
 */
export function codeOf(answer: string, extract: unknown, language = "python"): string {
  if (extract === "whole") return answer;
  const known = tags[language] ?? [language];
  const blocks = blocksOf(answer).filter(({ code }) => code.trim() !== "");
  const named = blocks.findLast(({ tag }) => known.includes(tag));
  return (named ?? blocks.at(-1))?.code ?? inlineCode(answer, known) ?? answer;
}

/**
 * Parses line by line, because a model may write fences that make a regular expression backtrack without end.
 * A block that is not closed ends with the answer. As in CommonMark, lines lose the indentation of their
 * fence.
 */
function blocksOf(answer: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; tag: string; indent: number; lines: string[] } | undefined;
  for (const line of answer.split(/\r?\n/)) {
    if (open === undefined) {
      const [, before = "", fence, tag = ""] = line.length > 1000 ? [] : (opening.exec(line) ?? []);
      if (fence !== undefined && (before.trim() === "" || fence.startsWith("`")))
        open = { fence, tag: tag.toLowerCase(), indent: before.trim() === "" ? before.length : 0, lines: [] };
    } else if (closes(line, open.fence)) {
      blocks.push({ tag: open.tag, code: textOf(open.lines) });
      open = undefined;
    } else open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))));
  }
  if (open !== undefined) blocks.push({ tag: open.tag, code: cut(textOf(open.lines), open.fence) });
  return blocks;
}

/**
 * Whether a line closes a block, as in CommonMark: a fence of the same character, at least as long, and
 * nothing else.
 */
function closes(line: string, fence: string): boolean {
  const said = line.trim();
  return said.length >= fence.length && said === fence.charAt(0).repeat(said.length);
}

/** Removes a closing fence at the end of a line, for code that no line closes. */
function cut(code: string, fence: string): string {
  const end = code.indexOf(fence);
  return end < 0 ? code : `${code.slice(0, end).trimEnd()}\n`;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Returns `print(1)` for ```python print(1)```. */
function inlineCode(answer: string, known: readonly string[]): string | undefined {
  const code = [...answer.matchAll(inline)].at(-1)?.[2]?.trim();
  const [tag = "", ...rest] = code?.split(" ") ?? [];
  return known.includes(tag.toLowerCase()) && rest.length > 0 ? rest.join(" ").trim() : code;
}
