/** The code of an answer: its last block in fences, or all of it if it has none; all of it if that is asked for. */
export function codeOf(answer: string, extract: unknown): string {
  const blocks = [...answer.matchAll(/^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/gm)];
  const last = blocks.at(-1)?.[2];
  return extract === "whole" || last === undefined ? answer : last;
}
