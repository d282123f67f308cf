import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import plugin from "../../../plugins/policy-openai/index.ts";
import type { Message } from "../../../src/contracts/message.ts";
import { parseAction } from "../../../src/formats/parse-action.ts";
import { jsonServer } from "../../support/json-server.ts";

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
      ...{ tokens, version: 0, sampling, key: { seed: 1, trajectory: "t", turn: 1 } },
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
    ...[...prompt, ...first.tokens, ...answers("3", "no JSON")],
    ...[...second.tokens, ...answers("6", "and one more")],
  ]);
  expect(third).toMatchObject({ text: "cut", finishReason: "length" });
  expect(third.logprobs).toHaveLength(third.tokens.length);
  expect(asked[0]).toMatchObject({
    path: "/v1/chat/completions",
    body: {
      ...{ model: "m", temperature: 0, max_completion_tokens: 50 },
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
    ...[rate, rate, rate],
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
