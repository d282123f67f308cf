import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { WaitingCall } from "../../contracts/orders.ts";
import type { Plan } from "../../contracts/plan.ts";
import { toolDefinitions } from "../../plan/pipeline/resolve/tool-definitions.ts";
import { argumentsValidator } from "../../plugin/registry/validate-arguments.ts";

/**
 * Checks the arguments that a person gives for the named waiting call, or for the only one. Otherwise the model
 * would read the problems as its own mistake. Throws ORDER_REFUSED.
 */
export function checkArguments(
  plan: Plan,
  trajectory: string,
  waiting: readonly WaitingCall[],
  { call: named, arguments: given }: { call?: string; arguments: JsonObject },
): void {
  const call = waiting.find((one) => one.call === named) ?? waiting[0];
  const tool = toolDefinitions(plan).find(({ name }) => name === call?.tool);
  const problem = tool === undefined ? undefined : argumentsValidator(tool.parameters)(given);
  if (problem === undefined) return;
  const reason = `${tool?.name} does not take these arguments: ${problem.replace(/\.$/, "")}`;
  throw new EverturnError("ORDER_REFUSED", { order: "approve", trajectory, reason });
}
