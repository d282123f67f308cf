import { defined } from "../../base/records/defined.ts";
import type { Message } from "../../contracts/message.ts";
import { callArguments } from "./call-arguments.ts";
import type { EndpointCall, EndpointMessage } from "./model-request.ts";

/**
 * Converts messages for chat templates. A tool's answer gets the name of the call that it answers, one of these
 * messages' calls or of those made `before`.
 */
export function chatMessages(
  messages: readonly EndpointMessage[],
  before: readonly EndpointCall[] = [],
): Message[] {
  const names = new Map(before.map(({ id, name }) => [id, name]));
  return messages.map(({ role, content, name, callId, calls = [], reasoning, images }) => {
    for (const call of calls) names.set(call.id, call.name);
    const called = callId === undefined ? undefined : (name ?? names.get(callId));
    return defined({
      role,
      content,
      name: called,
      tool_call_id: callId,
      tool_calls: calls.length === 0 ? undefined : calls.map(shownCall),
      reasoning_content: reasoning,
      images,
    });
  });
}

function shownCall({ id, name, arguments: given }: EndpointCall) {
  return { type: "function" as const, id, function: { name, arguments: callArguments(given) } };
}
