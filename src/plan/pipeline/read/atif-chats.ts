import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { defined } from "../../../base/records/defined.ts";
import type { Atif, AtifMetrics, AtifStep } from "../../../contracts/generated/atif.ts";
import type { Message } from "../../../contracts/message.ts";
import { type AtifConversation, type AtifPlace, atifConversation } from "./atif-conversation.ts";
import type { DemonstratedChat, SampledTokens } from "./demonstrated-chat.ts";
import type { RowTools } from "./row-tools.ts";

/**
 * Converts a trajectory in Harbor's Agent Trajectory Interchange Format, and those of its sub-agents, to conversations
 * to imitate. If the file has the token ids of the steps that a model wrote, a conversation contains exactly those. A
 * step whose prompt does not continue the tokens before it begins another conversation, in which the earlier steps are
 * given. `at` is the row's place. Throws WRONG_VALUE, WRONG_COMBINATION and the errors of `rowTools`.
 */
export function atifChats(trajectory: Atif, at: string, rowTools: RowTools): DemonstratedChat[] {
  const chats = chatsOf(trajectory, { at, path: "" }, rowTools);
  if (chats.length > 0) return chats;
  throw new EverturnError("WRONG_VALUE", {
    at,
    where: "steps",
    actual: "without a step that a model wrote",
    expected: "a demonstration needs one",
    hint: "Steps of the agent count, except copied context and those with llm_call_count 0. Remove the row.",
  });
}

function chatsOf(trajectory: Atif, place: AtifPlace, rowTools: RowTools): DemonstratedChat[] {
  const { agent, subagent_trajectories: subagents = [] } = trajectory;
  const tools = rowTools({ tools: agent.tool_definitions }, place.at);
  const conversation = atifConversation(trajectory, place);
  const { messages, written } = conversation;
  const rows = sampledRows(conversation, place.at) ?? [{ steps: written, sampled: undefined }];
  const own = rows.flatMap(({ steps, sampled }): DemonstratedChat[] => {
    const learned = new Set(steps.map(({ message }) => message));
    const shown = messages.slice(0, Math.max(-1, ...learned) + 1);
    if (shown.length === 0) return [];
    const given = assistantsIn(shown).filter((index) => !learned.has(index));
    return [
      defined({
        messages: shown,
        given: given.length === 0 ? undefined : new Set(given),
        tools,
        sampled,
      }),
    ];
  });
  const others = subagents.flatMap((one, index) =>
    chatsOf(one, { ...place, path: `${place.path}subagent_trajectories[${index}].` }, rowTools),
  );
  return [...own, ...others];
}

function assistantsIn(messages: readonly Message[]): number[] {
  return messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []));
}

type Written = AtifConversation["written"];

/** Tokens that continue each other, with the steps that wrote some of them. */
interface Row {
  steps: Written;
  sampled: SampledTokens;
}

/** The rows that the steps' token ids form; undefined if there are none. */
function sampledRows({ written }: AtifConversation, at: string): Row[] | undefined {
  const found = written.map((one) => ({ ...one, ids: idsOf(one.step) }));
  const first = found.find(({ ids }) => ids !== undefined);
  if (first === undefined) return undefined;
  const rows: Row[] = [];
  for (const { ids, ...one } of found) {
    if (ids === undefined)
      throw new EverturnError("WRONG_COMBINATION", {
        at,
        where: `${one.where}.metrics`,
        reason: `lacks prompt_token_ids or completion_token_ids, which ${first.where} has`,
        hint: "Add them, or remove them from all steps: Everturn then frames the text itself.",
      });
    const { prompt, completion, logprobs } = ids;
    if (logprobs !== undefined && logprobs.length !== completion.length)
      throw new EverturnError("WRONG_VALUE", {
        at,
        where: `${one.where}.metrics.logprobs`,
        actual: `a list of ${logprobs.length}`,
        expected: `there are ${completion.length} completion_token_ids`,
        hint: "There must be one for each token, or none.",
      });
    if (completion.length === 0) continue; // there was no room for an action
    const last = rows.at(-1);
    const row = last !== undefined && continues(prompt, last.sampled.tokens) ? last : emptyRow();
    if (row !== last) rows.push(row);
    row.steps.push(one);
    append(row.sampled, prompt.slice(row.sampled.tokens.length), 0);
    append(row.sampled, completion, 1, logprobs);
  }
  return rows;
}

/** A step's token ids. An empty prompt counts as absent, and so do the ids of several generations together. */
function idsOf({ metrics = {}, llm_call_count: generations = 1 }: AtifStep) {
  const { prompt_token_ids: prompt = [], completion_token_ids: completion }: AtifMetrics = metrics;
  if (prompt.length === 0 || completion === undefined || generations > 1) return undefined;
  return { prompt, completion, logprobs: metrics.logprobs };
}

function continues(tokens: readonly number[], earlier: readonly number[]): boolean {
  return earlier.length <= tokens.length && earlier.every((token, at) => token === tokens[at]);
}

function emptyRow(): Row {
  return { steps: [], sampled: { tokens: [], mask: [], logprobs: [] } };
}

/** Appends tokens. Once log-probabilities of sampled tokens are unknown, the row has none. */
function append(
  to: SampledTokens,
  tokens: readonly number[],
  loss: 0 | 1,
  logprobs?: readonly number[],
): void {
  if (loss === 1 && logprobs === undefined) delete to.logprobs;
  for (const [at, token] of tokens.entries()) {
    to.tokens.push(token);
    to.mask.push(loss);
    to.logprobs?.push(logprobs?.[at] ?? 0);
  }
}
