import OpenAI from "openai";
import type { JsonObject } from "../../src/contracts/json.ts";
import { type AskedFrames, type VerifiersServer, verifiersServer } from "./verifiers-server.ts";

const properties = { amount: { type: "integer" } };
const add = {
  name: "add",
  description: "Add to the total.",
  parameters: { type: "object", properties, required: ["amount"] },
};

/**
 * A server whose episodes add amounts to reach the target of their row, as verifiers runs them: its harness asks the
 * policy with a key of its own in the usual header. Episodes of tasks for which `isFailing` is true can't begin.
 */
export function countingServer(isFailing: (index: number) => boolean): Promise<VerifiersServer> {
  return verifiersServer(async (asked) => {
    const { method, payload, send } = asked;
    if (method !== "run") return send("reply", { success: true, cancelled: false });
    const { idx, prompt, target } = Object(payload.task_data);
    if (isFailing(Number(idx))) {
      const errors = [{ type: "TaskError", message: "the simulator did not start" }];
      return send("reply", { success: true, error: null, head: { ok: false, errors }, traces: [] });
    }
    try {
      await episode(asked, String(prompt), Number(target));
    } catch (error) {
      await send("reply", { success: false, error: String(error) });
    }
  });
}

async function episode({ id, payload, send }: AskedFrames, prompt: string, target: number): Promise<void> {
  const { base_url: baseURL, headers } = Object(payload.client);
  const client = new OpenAI({ baseURL, apiKey: "EMPTY", defaultHeaders: headers, maxRetries: 0 });
  const tools = [{ type: "function" as const, function: add }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: prompt }];
  const delta = (part: JsonObject) => send("delta", { trace: id, ...part });
  let [nodes, total] = [0, 0];
  await delta({ open: { id }, set: { agent: { trainable: true }, ok: false } });
  for (let calls = 1; ; calls++) {
    const asked = client.chat.completions.stream({ model: "policy", messages, tools });
    const message = (await asked.finalChatCompletion()).choices[0]?.message;
    if (message === undefined) throw new Error("the policy said nothing");
    messages.push(message);
    await delta({ nodes: [{}, {}], calls: [{}] });
    nodes += 2;
    const given = message.tool_calls ?? [];
    for (const call of given) {
      if (call.type !== "function") continue;
      total += Number(JSON.parse(call.function.arguments).amount);
      messages.push({ role: "tool", tool_call_id: call.id, content: String(total) });
    }
    if (given.length > 0) continue;
    const rewards = { reached: { score: total === target ? 1 : 0, weight: 1 } };
    await delta({ set: { rewards, metrics: { steps: calls - 1 }, ok: true, is_timeout: false } });
    return send("reply", {
      success: true,
      error: null,
      head: { ok: true, errors: [] },
      traces: [{ id, nodes, calls }],
    });
  }
}
