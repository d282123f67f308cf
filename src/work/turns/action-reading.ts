import { expressionReader } from "../../chat/formats/expression.ts";
import { formatNamed } from "../../chat/formats/parse-action.ts";
import type { GenerateTurnInput } from "../../contracts/generate-turn.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ReadAction, ReadCall } from "../../contracts/parsed-action.ts";
import type { Plan } from "../../contracts/plan.ts";
import { toolDefinitions } from "../../plan/pipeline/resolve/tool-definitions.ts";

/** The tools of the plan that the policy may call in a turn. */
export function turnTools(plan: Plan, { offered }: Pick<GenerateTurnInput, "offered">): ToolDefinition[] {
  const tools = toolDefinitions(plan);
  return offered === undefined ? tools : tools.filter(({ name }) => offered.includes(name));
}

/** The texts that end an action in a run's action format. */
export function stopTexts(
  { format = "hermes", expression }: Plan["rollout"],
  tools: readonly ToolDefinition[],
): readonly string[] {
  return expression === undefined ? formatNamed(format).stopTexts(tools) : expression.stop;
}

/**
 * Completes the reading of an action that its policy returned in parts. A server that finds no calls may have
 * left them in the answer. There, the run's format reads them.
 */
export function completeReading(
  read: ReadAction,
  { format = "hermes", expression }: Plan["rollout"],
  tools: readonly ToolDefinition[],
): ReadAction {
  if (read.calls.length > 0) return read;
  const { reasoning, answer, calls } =
    expression === undefined
      ? formatNamed(format).parse(read.answer, { tools })
      : expressionReader(expression)(read.answer, tools);
  const thoughts = [read.reasoning, reasoning].filter((thought) => thought !== "");
  return { reasoning: thoughts.join("\n"), answer, calls: calls.map(withoutId) };
}

/** Calls are numbered later, by their position in the trajectory. */
function withoutId(call: ReadCall): ReadCall {
  return "name" in call
    ? { name: call.name, arguments: call.arguments }
    : { text: call.text, problem: call.problem };
}
