import OpenAI from "openai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { collected } from "../../../../src/base/async/collected.ts";
import { EndpointProblem } from "../../../../src/chat/openai/endpoint-problem.ts";
import {
  type AnswerContext,
  type Endpoint,
  startEndpoint,
} from "../../../../src/chat/openai/endpoint-server.ts";
import type { ModelAnswer, ModelRequest } from "../../../../src/chat/openai/model-request.ts";

type Answerer = (request: ModelRequest, context: AnswerContext) => Promise<ModelAnswer>;

let endpoint: Endpoint;
let answerer: Answerer;
const logged: string[] = [];

beforeAll(async () => {
  endpoint = await startEndpoint({
    answer: (_, request, context) => answerer(request, context),
    authenticate: (key) => (key?.startsWith("key") ? key : undefined),
    models: ["policy"],
    log: (text) => void logged.push(text),
    signs: { after: 300, every: 20 },
  });
});

afterAll(() => endpoint.close());

const call = { id: "call00000", name: "add", arguments: '{"a":1, "b":2.0}' };
const answered = (id: string, more: Partial<ModelAnswer> = {}): ModelAnswer => ({
  id,
  text: `I am ${id}.`,
  calls: [],
  finishReason: "stop",
  usage: { prompt: 7, completion: 3 },
  created: 1_700_000_000,
  ...more,
});
const calling = answered("first", { text: "", reasoning: "sum", calls: [call], finishReason: "tool_calls" });

const client = (apiKey = "key") => new OpenAI({ baseURL: endpoint.url, apiKey, maxRetries: 0 });
const messages = [{ role: "user" as const, content: "1 + 2?" }];
const tool = { name: "add", description: "adds", parameters: { type: "object" } };
const post = (path: string, body: unknown, options: RequestInit = {}) =>
  fetch(`${endpoint.url}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer key" },
    body: JSON.stringify(body),
    ...options,
  });
const ask = (content: string, options: RequestInit = {}, more: object = {}) =>
  post("/chat/completions", { model: "m", messages: [{ role: "user", content }], ...more }, options);

test("OpenAI's client reads answers and streams of chat completions", async () => {
  answerer = async () => calling;
  const body = { model: "policy", messages, tools: [{ type: "function" as const, function: tool }] };
  const whole = await client().chat.completions.create(body);
  const message = whole.choices[0]?.message;
  expect(message).toMatchObject({ content: "", reasoning_content: "sum" });
  expect(message?.tool_calls).toEqual([
    { id: call.id, type: "function", function: { name: "add", arguments: call.arguments } },
  ]);
  const streamed = client().chat.completions.stream({ ...body, stream_options: { include_usage: true } });
  expect(await streamed.finalChatCompletion()).toMatchObject({
    choices: [{ finish_reason: "tool_calls", message: { tool_calls: [{ id: call.id }] } }],
    usage: { total_tokens: 10 },
  });
});

test("OpenAI's client runs tools by itself", async () => {
  answerer = async ({ messages: said }) =>
    said.some(({ role }) => role === "tool")
      ? answered("last", { text: `It is ${said.at(-1)?.content}.` })
      : calling;
  const add = {
    ...tool,
    parse: JSON.parse,
    function: ({ a, b }: { a: number; b: number }) => a + b,
  };
  for (const stream of [false, true] as const) {
    const body = { model: "policy", messages, tools: [{ type: "function" as const, function: add }], stream };
    const { chat } = client();
    const runner = body.stream
      ? chat.completions.runTools({ ...body, stream: true })
      : chat.completions.runTools({ ...body, stream: false });
    expect(await runner.finalContent()).toBe("It is 3.");
  }
});

test("OpenAI's client reads answers and streams of responses", async () => {
  answerer = async () => calling;
  const body = {
    model: "policy",
    input: "1 + 2?",
    tools: [{ type: "function" as const, strict: null, ...tool }],
  };
  const whole = await client().responses.create(body);
  expect(whole.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
  const streamed = await client().responses.stream(body).finalResponse();
  expect(streamed.output.map(({ id }) => id)).toEqual(["rs_first", "fc_first_0"]);
  answerer = async () => answered("second");
  expect((await client().responses.create({ model: "policy", input: "Hello" })).output_text).toBe(
    "I am second.",
  );
  expect(
    (await client().responses.stream({ model: "policy", input: "Hello" }).finalResponse()).output_text,
  ).toBe("I am second.");
});

test("models are listed, with /v1 in the path and without; who has no key is told so", async () => {
  expect((await client().models.list()).data.map(({ id }) => id)).toEqual(["policy"]);
  const without = new OpenAI({ baseURL: endpoint.url.replace(/\/v1$/, ""), apiKey: "key", maxRetries: 0 });
  expect((await without.models.retrieve("policy")).owned_by).toBe("everturn");
  await expect(client("wrong").models.list()).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  await expect(client().models.retrieve("other")).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  const headless = await post("/responses", {}, { headers: {} });
  expect([headless.status, await headless.json()]).toMatchObject([
    401,
    { error: { message: expect.stringContaining("no API key") } },
  ]);
});

test("a request whose client went away is joined by the same once more; after its answer it is another one", async () => {
  const begun: number[] = [];
  const open = Promise.withResolvers<void>();
  answerer = async (_, { occurrence }) => {
    begun.push(occurrence);
    await open.promise;
    return answered(`n${occurrence}`);
  };
  const hangUp = new AbortController();
  const lost = ask("same", { signal: hangUp.signal });
  await vi.waitFor(() => expect(begun).toEqual([1]), 60_000);
  const twin = ask("same"); // two sub-agents may ask the same
  await vi.waitFor(() => expect(begun).toEqual([1, 2]), 60_000);
  hangUp.abort();
  await expect(lost).rejects.toThrow();
  await new Promise((resolve) => setImmediate(resolve));
  const other = ask("other");
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 1]), 60_000);
  const again = ask("same", {}, { stream: true });
  const last = ask("last");
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 1, 1]), 60_000);
  open.resolve();
  expect(await (await again).text()).toContain("I am n1.");
  expect(await (await twin).text()).toContain("I am n2.");
  await Promise.all([other, last].map(async (one) => (await one).text()));
  expect(await (await ask("same")).text()).toContain("I am n3.");
  endpoint.forget("key");
  expect(await (await ask("same")).text()).toContain("I am n1.");
});

test("what fails is told in OpenAI's form and may be asked again as the same request", async () => {
  const seen: number[] = [];
  answerer = async (_, { occurrence }) => {
    seen.push(occurrence);
    if (seen.length === 1) throw new Error("out of order");
    if (seen.length === 2) throw new EndpointProblem(409, "Not yet.", { code: "early", param: "model" });
    return answered("late");
  };
  const failed = await ask("failing");
  expect([failed.status, await failed.json()]).toEqual([
    500,
    {
      error: {
        message: expect.stringContaining("its log explains why"),
        type: "server_error",
        param: null,
        code: null,
      },
    },
  ]);
  expect(logged.splice(0)).toEqual(["a request failed: out of order"]);
  const early = await ask("failing");
  expect([early.status, await early.json()]).toEqual([
    409,
    { error: { message: "Not yet.", type: "invalid_request_error", param: "model", code: "early" } },
  ]);
  expect((await ask("failing")).status).toBe(200);
  expect(seen).toEqual([1, 1, 1]);
});

test("a request without a connection gets the same reply as one with a connection", async () => {
  answerer = async ({ messages: said }) => {
    if (said[0]?.content === "busy") throw new EndpointProblem(429, "Ask again.");
    return answered("direct");
  };
  const never = new AbortController().signal;
  for (const [path, content, more, key] of [
    ["/chat/completions", "1 + 2?", {}, "key 1"],
    ["/chat/completions", "1 + 2?", { stream: true }, "key 1"],
    ["/responses", "1 + 2?", {}, "key 1"],
    ["/chat/completions", "busy", {}, "key 1"],
    ["/chat/completions", "1 + 2?", {}, "none"],
    ["/chats", "1 + 2?", {}, "key 1"],
  ] as const) {
    const said = [{ role: "user", content }];
    const body = JSON.stringify({ model: "m", messages: said, input: said, ...more });
    const response = await fetch(`${endpoint.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body,
    });
    const {
      status,
      headers,
      body: text,
    } = await endpoint.ask({ url: `${endpoint.url}${path}`, key, body }, never);
    expect([status, text]).toEqual([response.status, await response.text()]);
    for (const name of ["content-type", "retry-after"])
      expect(headers[name] ?? null).toBe(response.headers.get(name));
  }
});

test("a key in X-API-Key takes precedence over one that a program writes into Authorization itself", async () => {
  answerer = async () => answered("known");
  const asked = (headers: Record<string, string>) => ask("Hello?", { headers });
  expect((await asked({ "x-api-key": "key", authorization: "Bearer none" })).status).toBe(200);
  expect((await asked({ "x-api-key": "none", authorization: "Bearer key" })).status).toBe(401);
});

test("a request without a connection whose client left is joined by the same once more", async () => {
  const given = Promise.withResolvers<ModelAnswer>();
  const seen: number[] = [];
  answerer = (_, { occurrence }) => {
    seen.push(occurrence);
    return given.promise;
  };
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "left" }] });
  const request = { url: `${endpoint.url}/chat/completions`, key: "key 2", body };
  const leaving = new AbortController();
  void endpoint.ask(request, leaving.signal);
  leaving.abort();
  const again = endpoint.ask(request, new AbortController().signal);
  given.resolve(answered("late"));
  expect(await again).toMatchObject({ status: 200, body: expect.stringContaining("I am late.") });
  expect(seen).toEqual([1]);
});

test("while an answer is long in coming there are signs of life, and a failure after them is no answer", async () => {
  const open = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<ModelAnswer>());
  const next = open.values();
  answerer = async () => next.next().value?.promise ?? answered("none");
  const whole = await ask("slow"); // resolves with the headers: they came before the answer
  open[0]?.resolve(answered("slow"));
  expect(await whole.json()).toMatchObject({ choices: [{ message: { content: "I am slow." } }] });
  const stream = await ask("slow stream", {}, { stream: true });
  open[1]?.resolve(answered("slow"));
  expect(await stream.text()).toMatch(
    /^: the model is at work\n\n[\s\S]*I am slow\.[\s\S]*data: \[DONE\]\n\n$/,
  );
  const failure = new EndpointProblem(500, "It broke.");
  const broken = await ask("broken");
  open[2]?.reject(failure);
  await expect(broken.text()).rejects.toThrow();
  const chat = await client().chat.completions.create({ model: "m", messages, stream: true });
  open[3]?.reject(failure);
  await expect(collected(chat)).rejects.toThrow("It broke.");
  const responses = await client().responses.create({ model: "m", input: "broken", stream: true });
  open[4]?.reject(failure);
  await expect(collected(responses)).rejects.toThrow("It broke.");
});

test("an endpoint that is closed gives up what is under way and says so", async () => {
  const begun = Promise.withResolvers<void>();
  const own = await startEndpoint({
    answer: (_, __, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        begun.resolve();
      }),
    authenticate: () => "one",
    models: [],
    log: () => {},
  });
  const asked = fetch(`${own.url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"model":"m","input":"x"}',
  });
  await begun.promise;
  await own.close();
  expect((await asked).status).toBe(503);
  await expect(fetch(`${own.url}/models`)).rejects.toThrow();
});
