import type { ToolDefinition } from "../../contracts/message.ts";
import type { ParsedAction } from "../../contracts/parsed-action.ts";
import type { ActionText } from "../formats/action-format.ts";
import type { EndpointCall, ModelAnswer } from "./model-request.ts";

interface WrittenAction {
  /** The action's text as the model wrote it. */
  written: string;
  /** How its format presents it as text. */
  format: ActionText;
  tools: readonly ToolDefinition[];
  /** Whether the client takes calls. If not, anything written as a call is text. */
  takesCalls: boolean;
  /** The id of a valid call by its index among the valid ones. */
  callId(index: number): string;
}

/**
 * A client's answer from an action: its text, its thought and its calls. Unreadable calls, and calls that the client
 * does not take, are part of the text, character for character.
 */
export function answerOfAction(
  action: ParsedAction,
  { written, format, tools, takesCalls, callId }: WrittenAction,
): Pick<ModelAnswer, "text" | "reasoning" | "calls"> {
  const { calls } = action;
  const made = takesCalls ? calls.filter((call) => call.problem === undefined) : [];
  const { reasoning, answer } = made.length === 0 && calls.length > 0 ? format.asText(written) : action;
  const isMixed = made.length > 0 && made.length < calls.length;
  return {
    text: isMixed ? (format.besideCalls?.(written, tools) ?? joinedText(action)) : answer,
    reasoning: reasoning === "" ? undefined : reasoning,
    calls: made.map(
      (call, index): EndpointCall => ({
        id: callId(index),
        name: call.name,
        arguments: JSON.stringify(call.arguments),
      }),
    ),
  };
}

/** The answer followed by the unreadable calls. */
function joinedText({ answer, calls }: ParsedAction): string {
  const unreadable = calls.flatMap((call) => (call.problem === undefined ? [] : [call.text]));
  return [answer, ...unreadable].filter((text) => text !== "").join("\n");
}
