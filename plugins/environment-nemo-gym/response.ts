import type { JsonObject, TurnRecord } from "everturn/plugin";

/** A trajectory's actions and observations as the `response` of OpenAI's Responses API. */
export function responseOf(turns: readonly TurnRecord[], answer: string, params: JsonObject): JsonObject {
  const calls = turns.flatMap(({ toolCalls }, turn) =>
    toolCalls.flatMap((call, index): JsonObject[] => {
      const call_id = `call_${turn + 1}_${index + 1}`;
      const given = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
      const made = { type: "function_call", id: `fc_${turn + 1}_${index + 1}`, call_id, name: call.tool };
      return [
        { ...made, arguments: given, status: "completed" },
        { type: "function_call_output", call_id, output: call.observation },
      ];
    }),
  );
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: answer, annotations: [] }],
  };
  return {
    id: "resp_1",
    created_at: 0,
    model: "policy",
    object: "response",
    output: answer === "" ? calls : [...calls, message],
    parallel_tool_calls: false,
    tool_choice: "auto",
    tools: params.tools ?? [],
  };
}
