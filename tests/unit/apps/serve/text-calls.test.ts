import OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { servedAgent } from "../../../../src/apps/serve/served-agent.ts";
import { type PolicyInUse, servedPolicy } from "../../../../src/apps/serve/served-policy.ts";
import { formatNamed } from "../../../../src/chat/formats/parse-action.ts";
import { type Endpoint, startEndpoint } from "../../../../src/chat/openai/endpoint-server.ts";
import { conversationFraming } from "../../../../src/engine/inference-servers/conversation-tokens.ts";

const hermes = formatNamed("hermes");
const call = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';
const broken = '<tool_call>\n  {"name": "add", "arguments": {oops}\n</tool_call>\n';
const fn = { name: "add", description: "adds", parameters: { type: "object", properties: {} } };
const messages = [{ role: "user" as const, content: "1 + 2?" }];

let endpoint: Endpoint | undefined;
afterEach(() => endpoint?.close());

/** A client of a policy that writes one action, and that has a tool of its own if `agent` is true. */
async function client(text: string, { agent = false, finishReason = "stop" as "stop" | "length" } = {}) {
  const none: number[] = [];
  const logprobs = { logprobs: none, temperedLogprobs: none, samplingLogprobs: none };
  const inUse: PolicyInUse = {
    version: 1,
    contextLength: 4000,
    seed: 0,
    sampling: { temperature: 0, maxTokens: 50 },
    policy: {
      ...conversationFraming,
      generate: async () => ({ ...logprobs, tokens: none, text, finishReason }),
    },
    stopTexts: () => [],
    read: (written, tools, callsBefore) => hermes.parse(written, { tools, callsBefore }),
    format: hermes,
  };
  const policy = servedPolicy(inUse, { sessions: 2, turns: 9, onForget: () => {} });
  const made: object[] = [];
  const servedTools = {
    functions: [fn],
    call: async (asked: object) => {
      made.push(asked);
      return { text: "3", done: false };
    },
  };
  const served = agent ? servedAgent(policy, servedTools, { maxTurns: 1, sessions: 2, turns: 9 }) : policy;
  endpoint = await startEndpoint({
    answer: served.answer,
    authenticate: () => "one",
    models: ["policy"],
    log: () => {},
  });
  return { openai: new OpenAI({ baseURL: endpoint.url, apiKey: "key", maxRetries: 0 }), made };
}

const tool = { type: "function" as const, function: fn };
const inTool = { type: "function" as const, ...fn, strict: null };
const without = [
  {},
  { tools: [] },
  { tool_choice: "none" as const },
  { tools: [tool], tool_choice: "none" as const },
];

test.for([call, broken, `${call}\n${broken}`])(
  "chat completions without tools, or with none to call: %j is text",
  async (text) => {
    const { openai } = await client(text);
    for (const more of without) {
      const { choices } = await openai.chat.completions.create({ model: "m", messages, ...more });
      expect(choices).toMatchObject([{ finish_reason: "stop", message: { content: text } }]);
      expect(choices[0]?.message).not.toHaveProperty("tool_calls");
      const stream = await openai.chat.completions.create({ model: "m", messages, stream: true, ...more });
      const chunks = [];
      for await (const chunk of stream) chunks.push(...chunk.choices);
      expect(chunks.map(({ delta }) => delta.content ?? "").join("")).toBe(text);
      expect(chunks.some(({ delta }) => delta.tool_calls !== undefined)).toBe(false);
      expect(chunks.at(-1)?.finish_reason).toBe("stop");
    }
  },
);

test.for([call, broken])("responses without tools, or with none to call: %j is text", async (text) => {
  const { openai } = await client(text);
  for (const more of [{}, { tools: [inTool], tool_choice: "none" as const }]) {
    const whole = await openai.responses.create({ model: "m", input: "1 + 2?", ...more });
    expect(whole).toMatchObject({ status: "completed", output_text: text, output: [{ type: "message" }] });
    const stream = await openai.responses.create({ model: "m", input: "1 + 2?", stream: true, ...more });
    let streamed = "";
    for await (const event of stream) {
      expect(event.type).not.toMatch(/function_call/);
      if (event.type === "response.output_text.delta") streamed += event.delta;
    }
    expect(streamed).toBe(text);
  }
});

test("with tools, a call is made, and one that can't be read keeps its text", async () => {
  const { openai } = await client(`Look: ${call}${broken}`);
  const { choices } = await openai.chat.completions.create({ model: "m", messages, tools: [tool] });
  expect(choices).toMatchObject([
    {
      finish_reason: "tool_calls",
      message: { content: `Look: ${broken}`, tool_calls: [{ function: { name: "add" } }] },
    },
  ]);
  const alone = await client(broken);
  const second = await alone.openai.chat.completions.create({ model: "m", messages, tools: [tool] });
  expect(second.choices).toMatchObject([{ finish_reason: "stop", message: { content: broken } }]);
});

test.for([call, broken, `Look: ${call}${broken}`, `${call}\n${call}`, `<think>2</think>So: ${call}`, "3"])(
  "with tools, a stream of %j says what the whole answer says",
  async (text) => {
    const { openai } = await client(text);
    const asked = { model: "m", messages, tools: [tool] };
    const { choices } = await openai.chat.completions.create(asked);
    const whole = choices[0];
    let content = "";
    let reasoning = "";
    const calls: object[] = [];
    let reason: string | null = null;
    for await (const chunk of await openai.chat.completions.create({ ...asked, stream: true }))
      for (const { delta, finish_reason } of chunk.choices) {
        content += delta.content ?? "";
        reasoning += Reflect.get(delta, "reasoning_content") ?? "";
        for (const { index, id: _, ...one } of delta.tool_calls ?? []) calls[index] = one;
        reason = finish_reason ?? reason;
      }
    expect({ content, reasoning, calls, reason }).toEqual({
      content: whole?.message.content,
      reasoning: Reflect.get(whole?.message ?? {}, "reasoning_content") ?? "",
      calls: (whole?.message.tool_calls ?? []).map(({ id: _, ...one }) => one),
      reason: whole?.finish_reason,
    });

    const input = { model: "m", input: "1 + 2?", tools: [inTool] };
    const whole2 = await openai.responses.create(input);
    let said = "";
    const given: string[] = [];
    for await (const event of await openai.responses.create({ ...input, stream: true })) {
      if (event.type === "response.output_text.delta") said += event.delta;
      if (event.type === "response.function_call_arguments.delta") given.push(event.delta);
    }
    expect(said).toBe(whole2.output_text);
    expect(given).toEqual(
      whole2.output.flatMap((item) => (item.type === "function_call" ? [item.arguments] : [])),
    );
  },
);

test("an action that was cut within a call says what it has", async () => {
  const text = '<tool_call>\n{"name": "add", "argum';
  const { openai } = await client(text, { finishReason: "length" });
  const { choices } = await openai.chat.completions.create({ model: "m", messages, tools: [tool] });
  expect(choices).toMatchObject([{ finish_reason: "length", message: { content: text } }]);
});

test("a policy with tools of its own makes no call for a client that wants none", async () => {
  const { openai, made } = await client(call, { agent: true });
  const asked = { model: "m", messages, tool_choice: "none" as const };
  const { choices } = await openai.chat.completions.create(asked);
  expect(choices).toMatchObject([{ finish_reason: "stop", message: { content: call } }]);
  expect(made).toEqual([]);
});
