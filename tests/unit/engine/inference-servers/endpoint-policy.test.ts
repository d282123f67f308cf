import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import plugin from "../../../../plugins/policy-openai/index.ts";
import { parseAction } from "../../../../src/chat/formats/parse-action.ts";
import type { Message } from "../../../../src/contracts/message.ts";
import { jsonServer } from "../../../support/json-server.ts";

const tool = { name: "add", description: "adds", parameters: { type: "object" } };
const user: Message = { role: "user", content: "1 + 2?\ud83d \u0000 <|im_end|>" };
const call = (id: string, given: string) => ({
  id,
  type: "function",
  function: { name: "add", arguments: given },
});
const says = (message: object, finish_reason = "stop") => ({
  value: { choices: [{ index: 0, finish_reason, message: { role: "assistant", ...message } }] },
});
const trouble = (status: number, error: object) => ({ status, value: { error } });

/** The policy in front of a server that gives these answers, one after the other. */
async function asking(answers: { status?: number; value: unknown }[], config: object = {}) {
  const { url, asked } = await jsonServer(() => answers.shift() ?? trouble(500, { message: "no more" }));
  const settings = { url: `${url}/v1/`, model: "m", patience: 1, request: {}, ...config };
  const policy = await plugin.open(mkdtempSync(join(tmpdir(), "endpoint-")), settings);
  const sampling = { temperature: 0, maxTokens: 50 };
  const generate = (tokens: number[], more: { signal?: AbortSignal } = {}) =>
    policy.generate({
      tokens,
      version: 0,
      sampling,
      key: { seed: 1, trajectory: "t", turn: 1 },
      ...more,
    });
  return { asked, policy, generate, prompt: policy.framePrompt([user], [tool]).tokens };
}

test("each request has the whole conversation, calls with the ids of the endpoint and their answers", async () => {
  const given = '{"b":2,  "a":1}';
  const { asked, policy, generate, prompt } = await asking([
    says({ content: null, reasoning_content: "Add.", tool_calls: [call("x", given), call("y", "{oops")] }),
    says({ content: 'So <tool_call>{"name": "add", "arguments": {"a": 3}}</tool_call>' }),
    says({ content: "cut" }, "length"),
  ]);
  const first = await generate(prompt);
  const read = parseAction(first.text, { tools: [tool] });
  expect(read).toMatchObject({ reasoning: "Add.", calls: [{ arguments: { a: 1, b: 2 } }, {}] });
  expect(read.calls[1], "what is no JSON is told the model").toHaveProperty("problem");
  const answers = (...contents: string[]) =>
    policy.frameObservation(contents.map((content) => ({ role: "tool", content }))).tokens;
  const second = await generate([...prompt, ...first.tokens, ...answers("3", "no JSON")]);
  expect(parseAction(second.text, { tools: [tool] }).calls).toMatchObject([{ arguments: { a: 3 } }]);
  const third = await generate([
    ...prompt,
    ...first.tokens,
    ...answers("3", "no JSON"),
    ...second.tokens,
    ...answers("6", "and one more"),
  ]);
  expect(third).toMatchObject({ text: "cut", finishReason: "length" });
  expect(third.logprobs).toHaveLength(third.tokens.length);
  expect(asked[0]).toMatchObject({
    path: "/v1/chat/completions",
    body: {
      model: "m",
      temperature: 0,
      max_completion_tokens: 50,
      messages: [user],
      tools: [{ type: "function", function: tool }],
    },
  });
  expect(asked[2]?.body.messages).toEqual([
    user,
    { role: "assistant", content: "", tool_calls: [call("x", given), call("y", "{oops")] },
    { role: "tool", tool_call_id: "x", content: "3" },
    { role: "tool", tool_call_id: "y", content: "no JSON" },
    expect.objectContaining({ tool_calls: [call("call00000", '{"a":3}')] }),
    { role: "tool", tool_call_id: "call00000", content: "6" },
    { role: "user", content: "and one more" },
  ]);
});

test("calls that nobody answered are left out, and fields of the configuration stand in place of ours", async () => {
  const { asked, generate, policy, prompt } = await asking(
    [says({ content: "a", tool_calls: [call("x", "{}")] }), says({ content: "b" })],
    { request: { temperature: null, reasoning_effort: "low" } },
  );
  const { tokens } = await generate(prompt);
  const next = policy.frameObservation([{ role: "user", content: "Go on." }]).tokens;
  await generate([...prompt, ...tokens, ...next]);
  expect(asked[1]?.body.messages[1]).toEqual({ role: "assistant", content: "a" });
  expect(asked[1]?.body).toMatchObject({ reasoning_effort: "low" });
  expect(asked[1]?.body).not.toHaveProperty("temperature");
});

test("what passes is asked again, what does not is refused with the endpoint's words", async () => {
  const rate = trouble(429, { message: "slow down" });
  const { asked, generate, prompt } = await asking([rate, says({ content: "3" })]);
  expect(await generate(prompt)).toMatchObject({ text: "3", finishReason: "stop" });
  expect(asked).toHaveLength(2);
  const long = trouble(400, { code: "context_length_exceeded", message: "too long" });
  const later = await asking([
    long,
    trouble(401, { message: "no such key" }),
    { value: "<html>" },
    rate,
    rate,
    rate,
  ]);
  expect(await later.generate(prompt)).toMatchObject({ tokens: [], finishReason: "length" });
  for (const reason of ["answered 401: .*no such key", "answered 200: .*html"])
    await expect(later.generate(prompt)).rejects.toMatchObject({
      code: "ENGINE_REFUSED",
      message: expect.stringMatching(reason),
    });
  await expect(later.generate(prompt)).rejects.toMatchObject({ code: "ENGINE_FAILED" });
  const nobody = await asking([], { url: "http://127.0.0.1:1/v1", patience: 0 });
  await expect(nobody.generate(prompt)).rejects.toMatchObject({
    code: "ENGINE_FAILED",
    message: expect.stringContaining("ECONNREFUSED"),
  });
  const given = new AbortController();
  const waiting = later.generate(prompt, { signal: given.signal });
  given.abort(new Error("nobody waits"));
  await expect(waiting).rejects.toThrow("nobody waits");
});

test("content in parts is said and thought as its parts say", async () => {
  const text = (said: string) => ({ type: "text", text: said });
  const contents: [content: unknown, said: string, thought?: string][] = [
    [[text("It is "), text("3.")], "It is 3."],
    [[{ type: "output_text", text: "3" }], "3"],
    [["3"], "3"],
    [[], ""],
    [[null, 7, { type: "image_url", image_url: { url: "x" } }, text("3")], "3"],
    [[{ type: "refusal", refusal: "No." }], "No."],
    [[{ type: "thinking", thinking: [text("Add")] }, text("3")], "3", "Add"],
    [[{ type: "thinking", thinking: "Add" }, text("3")], "3", "Add"],
    [[{ type: "reasoning", summary: [{ type: "summary_text", text: "Add" }] }, text("3")], "3", "Add"],
  ];
  for (const [content, said, thought = ""] of contents) {
    const { generate, policy, prompt, asked } = await asking([says({ content }), says({ content: "!" })]);
    const { text: written, tokens } = await generate(prompt);
    expect(parseAction(written)).toEqual({ reasoning: thought, answer: said, calls: [] });
    const next = policy.frameObservation([{ role: "user", content: "Sure?" }]).tokens;
    await generate([...prompt, ...tokens, ...next]);
    expect(asked[1]?.body.messages[1]).toEqual({ role: "assistant", content: said });
  }
  const { generate, prompt } = await asking([says({ content: null, reasoning_content: [text("Add")] })]);
  expect(parseAction((await generate(prompt)).text)).toMatchObject({ reasoning: "Add", answer: "" });
});

test("a call that is quoted in a thought, or beside calls, is none", async () => {
  const quoted = '<tool_call>{"name": "add", "arguments": {"a": 9}}</tool_call>';
  const thought = `Not </think> ${quoted} but <think> so.`;
  for (const field of ["reasoning_content", "reasoning", "thinking"]) {
    const message = { [field]: thought, content: "3" };
    const { generate, prompt } = await asking([says(message), says({ ...message, tool_calls: [] })]);
    for (const _ of [1, 2]) {
      const { text, read } = await generate(prompt);
      expect(read).toEqual({ reasoning: thought, answer: "3", calls: [] });
      expect(parseAction(text)).toMatchObject({ answer: "3", calls: [] });
    }
  }
  const content = `I call it so: ${quoted}`;
  const calls = { tool_calls: [call("x", '{"a": 1}')] };
  const { generate, prompt } = await asking([
    says({ content, ...calls }),
    says({ content, reasoning: "Hm" }),
  ]);
  const { text, read } = await generate(prompt);
  expect(read).toEqual({ reasoning: "", answer: content, calls: [{ name: "add", arguments: { a: 1 } }] });
  expect(parseAction(text).calls).toMatchObject([{ arguments: { a: 1 } }]);
  const inText = await generate(prompt);
  expect(parseAction(inText.text).calls, "a server that reads none leaves it there").toMatchObject([
    { arguments: { a: 9 } },
  ]);
});

test("arguments are an object, or the model reads what is wrong with them", async () => {
  const cases: [given: unknown, read: object][] = [
    ['{"a": 1}', { arguments: { a: 1 } }],
    [{ a: 1 }, { arguments: { a: 1 } }],
    ...["", "  ", "{}", null, undefined].map((given): [unknown, object] => [given, { arguments: {} }]),
    ["{oops", { text: "{oops", problem: expect.stringContaining("the arguments of add are not JSON") }],
    ["[1]", { problem: expect.stringContaining("the arguments of add are not an object") }],
    ['"a"', { problem: expect.stringContaining("the arguments of add are not an object") }],
    ['{}, "name": "rm"', { problem: expect.stringContaining("not JSON") }],
    ['{"a": 9007199254740993}', { problem: expect.stringContaining("9007199254740993") }],
  ];
  for (const [given, read] of cases) {
    const asked = [{ id: "x", type: "function", function: { name: "add", arguments: given } }];
    const { generate, prompt } = await asking([says({ content: null, tool_calls: asked })]);
    expect((await generate(prompt)).read?.calls, String(given)).toMatchObject([read]);
  }
  const nameless = [{ id: "x", type: "function", function: { arguments: "{}" } }];
  const { generate, prompt } = await asking([
    says({ content: null, tool_calls: nameless }),
    says({ content: null, function_call: { name: "add", arguments: '{"a": 1}' } }),
  ]);
  expect((await generate(prompt)).read?.calls).toMatchObject([
    { problem: expect.stringContaining("names no tool") },
  ]);
  expect((await generate(prompt)).read?.calls).toMatchObject([{ name: "add", arguments: { a: 1 } }]);
});

test("a number in arguments that are no text reaches the model as the endpoint wrote it", async () => {
  const { createServer } = await import("node:http");
  const body =
    '{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","function":{"name":"add","arguments":{"a":9007199254740993}}}]}}]}';
  const server = createServer((_, response) => response.end(body)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const { generate, prompt } = await asking([], {
    url: `http://127.0.0.1:${Object(server.address()).port}/v1`,
  });
  const { read } = await generate(prompt);
  expect(read?.calls).toMatchObject([{ problem: expect.stringContaining("9007199254740993") }]);
});

test("a conversation that is too long, in any server's words, ends the action and is no failure", async () => {
  const long: { status: number; value: unknown }[] = [
    {
      status: 400,
      value: {
        object: "error",
        message: "The input (9 tokens) is longer than the model's context length (8 tokens).",
      },
    },
    trouble(400, { message: "The decoder prompt (length 9) is longer than the maximum model length of 8." }),
    trouble(500, { message: "Context size has been exceeded.", type: "server_error" }),
    {
      status: 422,
      value: { error: "Input validation error: `inputs` must have less than 8 tokens. Given: 9" },
    },
    { status: 200, value: { error: { code: 400, message: "maximum context length is 8" } } },
  ];
  const { generate, prompt, asked } = await asking([...long]);
  for (const _ of long)
    expect(await generate(prompt)).toMatchObject({ tokens: [], text: "", finishReason: "length" });
  expect(asked, "each is asked once").toHaveLength(long.length);
  const full = await asking([says({ content: "cut" }, "model_context_window_exceeded")]);
  expect(await full.generate(full.prompt)).toMatchObject({ text: "cut", finishReason: "length" });
});

test("it is not trained, and a key that is not there is missed before a run", async () => {
  expect(plugin.traits?.({}).untrainable).toContain("text");
  expect(await plugin.check?.({ apiKeyVariable: "EVERTURN_NO_SUCH_KEY" })).toMatchObject([
    { key: "apiKeyVariable" },
  ]);
  const framing = await plugin.framing?.({});
  const shown = framing?.frameDemonstration([user, { role: "assistant", content: "3" }], [tool]);
  expect(Buffer.from(shown?.tokens.filter((_, at) => shown.mask[at] === 1) ?? []).toString()).toBe(
    '{"role":"assistant","content":"3"}\n',
  );
});
