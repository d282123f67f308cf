import { defined } from "../../../../base/records/defined.ts";
import { mean } from "../../../../base/statistics/mean.ts";
import type { Message } from "../../../../contracts/message.ts";
import type { Plan } from "../../../../contracts/plan.ts";
import type { DemonstratedChat } from "../../../../plan/pipeline/read/demonstrated-chat.ts";
import type { Examples } from "../../../../plan/pipeline/read/examples.ts";
import { placeText, type Spread, spreadOf } from "../../../../plan/tasks/describe-tasks.ts";

/** A summary of the demonstrations or pairs that steps train on. */
export interface ExampleSummary {
  kind: "demonstration" | "pair";
  rows: number;
  heldOut: number;
  /** In characters: the messages before the first action, or before the answers. */
  prompts: Spread;
  /** In characters: the assistant's messages after that, or those of the preferred answers. */
  answers: Spread;
  /** For pairs only. */
  rejected?: Spread;
  /** Rows with token ids, and the mean log-probability (nats) that their model gave a token. Absent without such rows. */
  sampled?: { rows: number; logprob?: number };
  /** Rows that equal an earlier row in all messages, as `file:line`. */
  repeated: string[];
}

/** Summarizes a plan's examples; undefined if it trains on trajectories. */
export function describeExamples(
  { sft, dpo }: Pick<Plan, "sft" | "dpo">,
  { learned, rejected }: Examples,
): ExampleSummary | undefined {
  const settings = dpo ?? sft;
  if (settings === undefined) return undefined;
  const seen = new Set<string>();
  const repeated = learned.flatMap((chat, index) => {
    const row = JSON.stringify([chat.messages, rejected[index]?.messages]);
    if (seen.has(row)) return [placeText(chat, index)];
    seen.add(row);
    return [];
  });
  return defined({
    kind: dpo === undefined ? "demonstration" : "pair",
    rows: learned.length,
    heldOut: settings.heldOut,
    prompts: spreadOf(learned.map((chat) => characters(chat.messages.slice(0, answerOf(chat))))),
    answers: answerSpread(learned),
    rejected: dpo !== undefined ? answerSpread(rejected) : undefined,
    sampled: sampledSummary(learned),
    repeated,
  });
}

/** The index of the message with which the answer begins. */
function answerOf({ messages, given }: DemonstratedChat): number {
  return messages.findIndex(({ role }, index) => role === "assistant" && !given?.has(index));
}

function sampledSummary(chats: readonly DemonstratedChat[]): ExampleSummary["sampled"] {
  const sampled = chats.flatMap((chat) => chat.sampled ?? []);
  if (sampled.length === 0) return undefined;
  const logprobs = sampled.flatMap((one) => one.logprobs?.filter((_, at) => one.mask[at] === 1) ?? []);
  return defined({ rows: sampled.length, logprob: logprobs.length === 0 ? undefined : mean(logprobs) });
}

function answerSpread(chats: readonly DemonstratedChat[]): Spread {
  const written = (chat: DemonstratedChat) =>
    chat.messages.slice(answerOf(chat)).filter(({ role }) => role === "assistant");
  return spreadOf(chats.map((chat) => characters(written(chat))));
}

function characters(messages: readonly Message[]): number {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls);
  const texts = [...messages.map(({ content }) => content), ...calls.map((call) => JSON.stringify(call))];
  return texts.reduce((sum, text) => sum + text.length, 0);
}
