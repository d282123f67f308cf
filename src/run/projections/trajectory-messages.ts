import type { Call } from "../../contracts/generated/trajectory.ts";
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
type ReadText = (action: string) => Pick<ParsedAction, "answer" | "reasoning">;

/**
 * The conversation after the prompt to the task's user, in OpenAI's form. An unreadable call stays in its action's
 * text, and its error becomes a user message, because that form has no other place for it.
 */
export function messagesOf(turns: readonly Detail[], read: ReadText): OpenAiMessage[] {
  return turns.flatMap((turn, index) =>
    turn.agent === undefined ? [...(turn.said ?? []), ...messagesOfTurn(turn, index + 1, read)] : [],
  );
}

function messagesOfTurn(turn: Detail, number: number, read: ReadText): OpenAiMessage[] {
  const { action } = turn;
  const toolCalls = policyCalls(turn);
  const { answer, reasoning } = read(action);
  const thought = reasoning === "" ? {} : { reasoning_content: reasoning };
  const calls = toolCalls.map((call, index) => ({ call, id: `call_${number}_${index}` }));
  const readable = calls.filter(({ call }) => isReadable(call));
  const observed = calls.map(
    ({ call, id }): OpenAiMessage =>
      isReadable(call)
        ? { role: "tool", tool_call_id: id, content: call.observation }
        : { role: "user", content: call.observation },
  );
  if (readable.length === 0) {
    const content = toolCalls.length === 0 ? answer : action;
    return [{ role: "assistant", content, ...thought }, ...observed];
  }
  const isWhole = readable.length === calls.length;
  const said = isWhole ? answer : action;
  const tool_calls = readable.map(({ call, id }) => ({
    id,
    type: "function" as const,
    function: { name: call.tool, arguments: JSON.stringify(call.arguments) },
  }));
  const inOrder = observed.toSorted(
    (one, other) => Number(one.role === "user") - Number(other.role === "user"),
  );
  return [{ role: "assistant", content: said === "" ? null : said, ...thought, tool_calls }, ...inOrder];
}

function isReadable({ tool, arguments: given }: Call): boolean {
  return tool !== "" && typeof given !== "string";
}
