import type { ParsedAction } from "../contracts/parsed-action.ts";
import type { EndpointCall, ModelAnswer } from "./model-request.ts";

/**
 * What an agent is answered of an action: what it says, what it thought, its calls. A call that can't be read is part of what it
 * says, as it was written, since an agent runs calls and nothing else. `callIds` names the calls that can be made, in order.
 */
export function answerOfAction(
  { reasoning, answer, calls }: ParsedAction,
  callId: (index: number) => string,
): Pick<ModelAnswer, "text" | "reasoning" | "calls"> {
  const written = calls.flatMap((call) => (call.problem === undefined ? [] : [call.text]));
  const made: EndpointCall[] = calls
    .filter((call) => call.problem === undefined)
    .map((call, index) => ({
      id: callId(index),
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    }));
  return {
    text: [answer, ...written].filter((text) => text !== "").join("\n"),
    reasoning: reasoning === "" ? undefined : reasoning,
    calls: made,
  };
}
