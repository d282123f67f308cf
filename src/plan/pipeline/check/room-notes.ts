import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import { offeredTools, toolsOfTasks } from "../resolve/tool-definitions.ts";
import { trainsOnRollouts } from "./compares-groups.ts";
import { longestAction } from "./demonstrated-actions.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

/** The number of prompts that are counted. */
const looked = 32;

/** Tokens for a whole trajectory that are noted as few. */
const littleRoom = 128;

/**
 * Notes limits of tokens that would cut most actions: prompts that leave little room, and a
 * `rollout.maxActionTokens` in which not even a short tool call has room.
 */
export function roomNotes({ plan, data, framing }: LoadedPlan): string[] {
  if (framing === undefined || !trainsOnRollouts(plan)) return [];
  const { maxActionTokens, limits, format } = plan.rollout;
  const room = Math.min(framing.contextLength, limits?.tokens ?? Number.POSITIVE_INFINITY);
  const offeredTo = toolsOfTasks(plan);
  const lengths = unlessRefused(() =>
    (data.train ?? [])
      .slice(0, looked)
      .map((task) => framing.framePrompt(task.prompt, offeredTo(task)).tokens.length),
  );
  const median = lengths?.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)];
  const notes: string[] = [];
  if (median !== undefined && room - median < Math.min(maxActionTokens / 2, littleRoom)) {
    const cause = room === framing.contextLength ? "the policy's context" : "rollout.limits.tokens";
    notes.push(
      `tokens: half of the prompts leave at most ${room - median} of ${cause} (${room}) for all actions and observations, but an action may have ${maxActionTokens} (rollout.maxActionTokens). Longer actions will be cut`,
    );
  }
  const tools = offeredTools(plan);
  const shortest = Math.min(...tools.map((tool) => callTokens(framing, tool)));
  if (format === framing.format && Number.isFinite(shortest) && shortest > maxActionTokens)
    notes.push(
      `tokens: the shortest call of a tool has ${shortest}, but rollout.maxActionTokens is ${maxActionTokens}, so every call would be cut. Raise it`,
    );
  return notes;
}

/** The tokens of the shortest action that calls a tool; infinite if the template writes no calls. */
function callTokens(framing: PolicyFraming, tool: ToolDefinition): number {
  const { required } = tool.parameters;
  const names = Array.isArray(required) ? required.map(String) : [];
  const call = { name: tool.name, arguments: Object.fromEntries(names.map((name) => [name, ""])) };
  const action = { type: "function" as const, function: call };
  const framed = unlessRefused(() =>
    framing.frameDemonstration(
      [
        { role: "user", content: "?" },
        { role: "assistant", content: "", tool_calls: [action] },
      ],
      [tool],
    ),
  );
  return framed === undefined ? Number.POSITIVE_INFINITY : longestAction(framed.mask);
}

/** Another check reports what can't be framed. */
function unlessRefused<Result>(frame: () => Result): Result | undefined {
  try {
    return frame();
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return undefined;
  }
}
