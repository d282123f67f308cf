import type { TurnRecord } from "../src/contracts/trajectory.ts";

/** Temporal shows at most this many bytes of a workflow's details. */
const detailsLimit = 20_000;
const summaryLimit = 400;

/** `text` cut to `limit` UTF-8 bytes, between two characters, with an ellipsis where it was cut. */
export function cut(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text); // the workflow sandbox has no Buffer
  if (bytes.length <= limit) return text;
  let end = limit - 3;
  while (isContinuation(bytes[end])) end -= 1;
  return `${new TextDecoder().decode(bytes.subarray(0, end))}…`;
}

/** Whether a byte of UTF-8 belongs to the character before it. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
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

/** A code block; its fence is longer than any in the text, so that no text ends it. */
function fenced(text: string): string {
  const inside = text.match(/`+/g)?.map((ticks) => ticks.length) ?? [];
  const fence = "`".repeat(Math.max(2, ...inside) + 1);
  return `${fence}\n${text}\n${fence}`;
}
