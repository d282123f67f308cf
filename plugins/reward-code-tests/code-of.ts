/** The code of an answer: its last block in fences, or all of it if it has none; all of it if that is asked for. */
export function codeOf(answer: string, extract: unknown): string {
  return extract === "whole" ? answer : (lastBlock(answer) ?? answer);
}

/** Line by line: a model may write fences on which a regular expression would backtrack without end. */
function lastBlock(answer: string): string | undefined {
  let last: string | undefined;
  let open: { fence: string; lines: string[] } | undefined;
  for (const line of answer.split("\n")) {
    const said = line.trim();
    if (open === undefined) {
      const fence = /^(`{3,}|~{3,})/.exec(said)?.[0];
      if (fence !== undefined) open = { fence, lines: [] };
    } else if (said === open.fence) {
      last = open.lines.map((one) => `${one}\n`).join("");
      open = undefined;
    } else open.lines.push(line);
  }
  return last;
}
