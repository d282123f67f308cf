import type { Call } from "../../contracts/generated/trajectory.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Message } from "../../contracts/message.ts";
import type { ParsedAction } from "../../contracts/parsed-action.ts";
import { policyCalls } from "./policy-calls.ts";
import type { Detail } from "./trajectory-detail.ts";

/** A message of OpenAI's chat completions, with a call's arguments as text. */
export type OpenAiMessage =
  | Message
  | {
      role: "assistant";
      content: string | null;
      reasoning_content?: string;
      tool_calls: { id: string; type: "function"; function: { name: string; arguments: string } }[];
    };

/** Reads the policy's thought and answer in an action's text. */
export type ReadText = (action: string) => Pick<ParsedAction, "answer" | "reasoning">;

/**
 * The conversation after the prompt to the task's user, in OpenAI's form. An unreadable call stays in its action's
 * text, and its error becomes a user message, because that form has no other place for it.
 */
export function messagesOf(turns: readonly Detail[], read: ReadText): OpenAiMessage[] {
  return turns.flatMap((turn, index) =>
    turn.agent === undefined ? [...(turn.said ?? []), ...messagesOfTurn(turn, index + 1, read)] : [],
  );
}

/** A turn as its policy wrote it: its text without the calls in it, its thoughts and its calls. */
export interface ActionParts {
  /** The whole action if a call in it could not be read. */
  text: string;
  /** "" if there are none. */
  reasoning: string;
  calls: { call: Call; id: string }[];
}

/** Reads the parts of the turn with this number, from 1. */
export function turnParts(turn: Detail, number: number, read: ReadText): ActionParts {
  const { answer, reasoning } = read(turn.action);
  const calls = policyCalls(turn).map((call, index) => ({ call, id: `call_${number}_${index}` }));
  return { text: calls.every(({ call }) => isReadable(call)) ? answer : turn.action, reasoning, calls };
}

function messagesOfTurn(turn: Detail, number: number, read: ReadText): OpenAiMessage[] {
  const { text, reasoning, calls } = turnParts(turn, number, read);
  const thought = reasoning === "" ? {} : { reasoning_content: reasoning };
  const observed = calls.map(
    ({ call, id }): OpenAiMessage =>
      isReadable(call)
        ? { role: "tool", tool_call_id: id, content: call.observation }
        : { role: "user", content: call.observation },
  );
  const tool_calls = calls.flatMap(({ call, id }) =>
    isReadable(call)
      ? [
          {
            id,
            type: "function" as const,
            function: { name: call.tool, arguments: JSON.stringify(call.arguments) },
          },
        ]
      : [],
  );
  if (tool_calls.length === 0) return [{ role: "assistant", content: text, ...thought }, ...observed];
  const inOrder = observed.toSorted(
    (one, other) => Number(one.role === "user") - Number(other.role === "user"),
  );
  return [{ role: "assistant", content: text === "" ? null : text, ...thought, tool_calls }, ...inOrder];
}

/** Whether a call's tool and arguments could be read. */
export function isReadable(call: Call): call is Call & { arguments: JsonObject } {
  return call.tool !== "" && typeof call.arguments !== "string";
}
