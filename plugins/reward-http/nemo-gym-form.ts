import type { JsonObject, ScoreRequest, TurnRecord } from "everturn/plugin";
import { type Form, isObject, scoreFrom } from "./form.ts";

/**
 * `POST /verify` of a NeMo Gym resources server. It sends the task's own columns, the prompt as
 * `responses_create_params`, and the trajectory as a response of OpenAI's Responses API. With `mask_sample` in
 * the answer, the score is missing.
 */
export const nemoGymForm: Form = {
  bodyOf({ task, turns, outcome }): JsonObject {
    const { prompt, data_source, reward_model, extra_info = {}, ...columns } = task;
    const input = prompt.map(({ role, content }) => ({ role, content, type: "message" }));
    const body = {
      ...extra_info,
      ...columns,
      responses_create_params: { input },
      response: responseOf(turns, outcome),
    };
    return JSON.parse(JSON.stringify(body));
  },
  scoreOf(answered, solvedFrom) {
    if (!isObject(answered)) throw new Error("the server's answer is not an object with a reward");
    const { reward, mask_sample: isMasked, failure_kind: kind, failure_reason: reason } = answered;
    if (isMasked === true) {
      const why = [kind, reason].filter((one) => typeof one === "string" && one !== "");
      return { missing: why.length === 0 ? "the server masks the sample" : why.join(": ") };
    }
    return scoreFrom(reward, { metrics: answered.reward_components }, solvedFrom);
  },
};

function responseOf(turns: ScoreRequest["turns"], outcome: ScoreRequest["outcome"]) {
  return {
    id: "resp_everturn",
    created_at: 0,
    model: "policy",
    object: "response",
    output: turns.flatMap(itemsOf),
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    status: outcome === "answered" || outcome === "done" ? "completed" : "incomplete",
  };
}

function itemsOf({ action, toolCalls }: TurnRecord, turn: number) {
  const message = {
    id: `msg_${turn}`,
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: action, annotations: [] }],
  };
  const calls = toolCalls.flatMap(({ tool, arguments: given, observation }, index) => {
    const call_id = `call_${turn}_${index}`;
    const written = typeof given === "string" ? given : JSON.stringify(given);
    return [
      { type: "function_call", call_id, name: tool, arguments: written },
      { type: "function_call_output", call_id, output: observation },
    ];
  });
  return [message, ...calls];
}
