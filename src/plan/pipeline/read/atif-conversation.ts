import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { defined } from "../../../base/records/defined.ts";
import { valueText } from "../../../base/validation/wording.ts";
import type { Atif, AtifPart, AtifStep } from "../../../contracts/generated/atif.ts";
import type { Message } from "../../../contracts/message.ts";

/** The conversation in a trajectory's steps. */
export interface AtifConversation {
  messages: Message[];
  /** The steps that a model wrote, with the indices of their messages. Copied context is not among them. */
  written: { step: AtifStep; where: string; message: number }[];
}

/** Where a trajectory is: the place of its row, and the path to it in the row, such as subagent_trajectories[0]. */
export interface AtifPlace {
  at: string;
  path: string;
}

/**
 * Returns the conversation in a trajectory's steps. A system step with an observation is an event that no model reads.
 * Images and audio are left out if the steps have token ids, which contain what the model read, and rejected otherwise.
 * Throws WRONG_VALUE and WRONG_COMBINATION.
 */
export function atifConversation({ steps }: Pick<Atif, "steps">, { at, path }: AtifPlace): AtifConversation {
  const messages: Message[] = [];
  const written: AtifConversation["written"] = [];
  const skipsMedia = steps.some(({ metrics }) => (metrics?.completion_token_ids ?? []).length > 0);
  steps.forEach((step, index) => {
    const where = `${path}steps[${index}]`;
    checkStep(step, index + 1, { at, where });
    const { source, observation, reasoning_content: thoughts } = step;
    if (source === "system" && observation !== undefined) return;
    const content = textOf(step.message, { at, where: `${where}.message` }, skipsMedia);
    if (source !== "agent") {
      if (content !== "") messages.push({ role: source, content });
    } else {
      const isWritten = step.is_copied_context !== true && step.llm_call_count !== 0;
      if (isWritten) written.push({ step, where, message: messages.length });
      const calls = (step.tool_calls ?? []).map(
        ({ tool_call_id: id, function_name: name, arguments: given }) => ({
          type: "function" as const,
          id,
          function: { name, arguments: given },
        }),
      );
      messages.push(
        defined({
          role: "assistant",
          content,
          reasoning_content: thoughts === "" ? undefined : thoughts,
          tool_calls: calls.length === 0 ? undefined : calls,
        }),
      );
    }
    const names = new Map(step.tool_calls?.map((call) => [call.tool_call_id, call.function_name]));
    observation?.results.forEach(({ source_call_id: id, content: result }, number) => {
      const place = { at, where: `${where}.observation.results[${number}]` };
      const text = textOf(result ?? "", { ...place, where: `${place.where}.content` }, skipsMedia);
      const name = names.get(id ?? "");
      if (id !== undefined && name === undefined) throw unknownCall(id, names, place);
      if (name !== undefined) messages.push({ role: "tool", name, content: text });
      else if (text !== "") messages.push({ role: "user", content: text });
    });
  });
  return { messages, written };
}

/** Checks what the schema can't express. */
function checkStep(step: AtifStep, number: number, { at, where }: { at: string; where: string }): void {
  if (step.step_id !== number)
    throw new EverturnError("WRONG_VALUE", {
      at,
      where: `${where}.step_id`,
      actual: valueText(step.step_id),
      expected: `must be ${number}`,
      hint: "Steps count 1, 2, 3. Export the trajectory again if one is missing.",
    });
  const { tool_calls, metrics, reasoning_content } = step;
  if (step.source === "agent") return;
  for (const [key, value] of Object.entries({ tool_calls, metrics, reasoning_content }))
    if (value !== undefined)
      throw new EverturnError("WRONG_COMBINATION", {
        at,
        where: `${where}.${key}`,
        reason: `is only for the agent, but source is ${step.source}`,
        hint: "Remove it, or correct the source.",
      });
}

function unknownCall(id: string, names: ReadonlyMap<string, string>, place: { at: string; where: string }) {
  return new EverturnError("WRONG_VALUE", {
    ...place,
    where: `${place.where}.source_call_id`,
    actual: valueText(id),
    expected: names.size === 0 ? "the step has no calls" : `must be one of ${[...names.keys()].join(", ")}`,
    hint: "A result is in the step of the call that it answers. Leave source_call_id out if it answers none.",
  });
}

function textOf(
  content: string | AtifPart[],
  place: { at: string; where: string },
  skipsMedia: boolean,
): string {
  if (typeof content === "string") return content;
  const other = content.findIndex(({ type }) => type !== "text");
  if (other >= 0 && !skipsMedia)
    throw new EverturnError("WRONG_VALUE", {
      ...place,
      where: `${place.where}[${other}]`,
      actual: `a part of type ${content[other]?.type}`,
      expected: "demonstrations without token ids contain only text",
      hint: "Remove the part, or the row.",
    });
  return content.map(({ text = "" }) => text).join("");
}
