import type { TurnRecord } from "../src/contracts/trajectory.ts";

/** Temporal shows at most this many bytes of a workflow's details. */
const detailsLimit = 20_000;
const summaryLimit = 400;

/** `text` cut to `limit` UTF-8 bytes, with an ellipsis where it was cut. */
export function cut(text: string, limit: number): string {
  if (byteLength(text) <= limit) return text;
  let end = Math.min(text.length, limit - 3);
  while (byteLength(text.slice(0, end)) > limit - 3) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** One line for an event's summary. */
export function summary(text: string): string {
  return cut(text.replace(/\s+/g, " ").trim(), summaryLimit);
}

/** The conversation so far as Markdown, for the workflow's details in the UI. */
export function transcript(prompt: string, turns: TurnRecord[]): string {
  const lines = [`**task** ${prompt}`];
  turns.forEach((turn, index) => {
    lines.push("", `**turn ${index + 1}**`, fenced(turn.action));
    for (const call of turn.toolCalls) {
      lines.push(
        `${call.valid ? "tool" : "refused call of"} \`${call.tool}\` answered`,
        fenced(call.observation),
      );
    }
  });
  return cut(lines.join("\n"), detailsLimit);
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

/** UTF-8 length; the workflow sandbox has no Buffer. */
function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
