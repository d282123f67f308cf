import { defined } from "../../base/records/defined.ts";
import { callArguments } from "../../chat/openai/call-arguments.ts";
import type { Message } from "../../contracts/message.ts";
import type { SessionMessage, SessionRequest } from "../../contracts/session.ts";

/**
 * An agent's messages as chat templates read them, with the call ids of the policy's actions, and the tool's
 * name in each tool message. Reasoning is left out, as templates do for earlier turns.
 */
export function framedMessages({
  messages,
  callIds,
}: Pick<SessionRequest, "messages" | "callIds">): Message[] {
  const names = new Map(
    messages.flatMap(({ calls = [] }) => calls.map(({ id, name }) => [id, name] as const)),
  );
  return messages.map((message) => {
    const { role, content, name, callId, calls = [], images } = message;
    const tool = name ?? (callId === undefined ? undefined : names.get(callId));
    return defined({
      role,
      content,
      images,
      name: tool,
      tool_call_id: callId === undefined ? undefined : (callIds[callId] ?? callId),
      tool_calls: calls.length === 0 ? undefined : calls.map(callOf),
    });
  });
}

function callOf(call: NonNullable<SessionMessage["calls"]>[number]) {
  return {
    type: "function" as const,
    function: { name: call.name, arguments: callArguments(call.arguments) },
  };
}
