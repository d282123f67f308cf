import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Endpoint, startEndpoint } from "../../../../src/chat/openai/endpoint-server.ts";
import type { GivenTurn } from "../../../../src/chat/openai/given-turn.ts";
import { matchTurn } from "../../../../src/chat/openai/match-turn.ts";
import { capturedSessions } from "../../../support/captured-requests.ts";
import { oddTargets, rawRequest } from "../../../support/raw-request.ts";

let endpoint: Endpoint;
const logged: string[] = [];
let answers = 0;
const turns: GivenTurn[] = [];

beforeAll(async () => {
  endpoint = await startEndpoint({
    answer: async (_, request) => {
      matchTurn(turns, request);
      const id = `a${answers++}`;
      const said = { text: `${request.messages.length} messages`, calls: [], finishReason: "stop" as const };
      return { id, ...said, usage: { prompt: 1, completion: 1 }, created: 0 };
    },
    authenticate: () => "one",
    models: ["policy"],
    log: (text) => void logged.push(text),
  });
});

afterAll(() => endpoint.close());

async function post(path: string, body: string | object) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${endpoint.url}${path}`, { method: "POST", headers, body: text });
  return { status: response.status, text: await response.text() };
}

const user = { role: "user", content: "U" };
const chat = (more: object) => ({ model: "m", messages: [user], ...more });
const said = (...messages: unknown[]) => ({ model: "m", messages });
const input = (...items: unknown[]) => ({ model: "m", input: items });
const fn = { type: "function", function: { name: "f", parameters: { type: "object" } } };
const called = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

/** What is not the JSON text of an object whose numbers keep their value. */
const wrongArguments = [
  "{",
  "",
  " ",
  "[]",
  "null",
  '"a"',
  "7",
  "{a: 1}",
  '{"id": 9007199254740993}',
  '{"x": 1e999}',
];

/** A request with a parameter of this schema, as JSON text, and with more at its end. */
const withSchema = (schema: string, more = "") =>
  `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"default":${schema}}}}}]${more}}`;

/** Requests for chat completions, and in which field something is wrong, if anything is. */
const chats: [body: string | object, wrong?: string | null][] = [
  ["", null],
  ["{", null],
  ["null", null],
  ["[]", null],
  ['"text"', null],
  [{}, "messages"],
  [{ messages: [user] }, "model"],
  [{ model: 1, messages: [user] }, "model"],
  [{ model: "", messages: [user] }, "model"],
  [{ model: "m" }, "messages"],
  [{ model: "m", messages: null }, "messages"],
  [{ model: "m", messages: {} }, "messages"],
  [{ model: "m", messages: "hello" }, "messages"],
  [said(), "messages"],
  [said(null), "messages[0]"],
  [said("hello"), "messages[0]"],
  [said([]), "messages[0]"],
  [said({}), "messages[0].role"],
  [said({ role: "user" }), "messages[0].content"],
  [said({ role: "user", content: null }), "messages[0].content"],
  [said({ role: "user", content: 7 }), "messages[0].content"],
  [said({ role: "user", content: {} }), "messages[0].content"],
  [said({ role: "user", content: [7] }), "messages[0].content[0]"],
  [said({ role: "user", content: [{}] }), "messages[0].content[0].type"],
  [said({ role: "user", content: [{ type: "text" }] }), "messages[0].content[0].text"],
  [
    said({ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }),
    "messages[0].content[0]",
  ],
  [said({ role: "user", content: [{ type: "input_audio" }] }), "messages[0].content[0]"],
  [said({ role: "wizard", content: "x" }), "messages[0].role"],
  [said({ role: "function", name: "f", content: "x" }), "messages[0]"],
  [said({ role: "tool", content: "x" }), "messages[0].tool_call_id"],
  [said({ role: "tool", content: "x", tool_call_id: "" }), "messages[0].tool_call_id"],
  [said({ role: "tool", tool_call_id: "c" }), "messages[0].content"],
  [said({ role: "assistant", function_call: {} }), "messages[0].function_call"],
  [said({ role: "assistant", tool_calls: {} }), "messages[0].tool_calls"],
  [said({ role: "assistant", tool_calls: [{}] }), "messages[0].tool_calls[0].function"],
  [
    said({ role: "assistant", tool_calls: [{ ...called, type: "custom" }] }),
    "messages[0].tool_calls[0].type",
  ],
  [said({ role: "assistant", tool_calls: [{ ...called, id: 1 }] }), "messages[0].tool_calls[0].id"],
  [
    said({ role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: {} } }] }),
    "messages[0].tool_calls[0].function.arguments",
  ],
  ...wrongArguments.map((given): [object, string] => [
    said(user, { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: given } }] }),
    "messages[1].tool_calls[0].function.arguments",
  ]),
  [
    said({ role: "assistant", tool_calls: [{ type: "function", function: { name: "f", arguments: "{}" } }] }),
    "messages[0].tool_calls[0].id",
  ],
  ['{"model":"m","messages":[{"role":"user","content":"a"}],"metadata":{"id":12345678901234567890}}', null],
  [withSchema('{"const":9223372036854775807}'), null],
  [withSchema('{"enum":[1,9223372036854775807]}'), null],
  [withSchema('{"default":{"maximum":9223372036854775807}}'), null],
  [withSchema('{"multipleOf":9223372036854775807}'), null],
  [withSchema("{}", ',"metadata":{"maximum":9223372036854775807}'), null],
  [withSchema("{}", ',"stop":[{"seed":9223372036854775807}]'), null],
  [withSchema('{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}')],
  [withSchema('{"exclusiveMinimum":-9223372036854775809,"exclusiveMaximum":18446744073709551615}')],
  [withSchema('{"anyOf":[{"items":{"maxLength":18446744073709551615}},{"type":"null"}]}')],
  [withSchema("{}", ',"seed":12345678901234567890,"temperature":0.7000000000000000123')],
  [
    withSchema(
      "{}",
      ',"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"maximum":9223372036854775807}}}',
    ),
  ],
  [chat({ functions: [] }), "functions"],
  [chat({ function_call: "auto" }), "function_call"],
  [chat({ n: 2 }), "n"],
  [chat({ n: "1" }), "n"],
  [chat({ logprobs: true }), "logprobs"],
  [chat({ modalities: ["text", "audio"] }), "modalities"],
  [chat({ stream: "yes" }), "stream"],
  [chat({ stream_options: true }), "stream_options"],
  [chat({ stream_options: { include_usage: 1 } }), "stream_options.include_usage"],
  [chat({ tools: {} }), "tools"],
  [chat({ tools: [null] }), "tools[0]"],
  [chat({ tools: [{ type: "web_search" }] }), "tools[0]"],
  [chat({ tools: [{ type: "function" }] }), "tools[0].function"],
  [chat({ tools: [{ type: "function", function: {} }] }), "tools[0].function.name"],
  [
    chat({ tools: [{ type: "function", function: { name: "f", parameters: [] } }] }),
    "tools[0].function.parameters",
  ],
  [
    chat({ tools: [{ type: "function", function: { name: "f", description: 1 } }] }),
    "tools[0].function.description",
  ],
  [chat({ tool_choice: "sometimes" }), "tool_choice"],
  [chat({ tool_choice: { type: "function" } }), "tool_choice.function"],
  [chat({ response_format: "json" }), "response_format"],
  [chat({ response_format: { type: "xml" } }), "response_format.type"],
  [chat({ response_format: { type: "json_schema" } }), "response_format.json_schema"],
  [said(user)],
  [said({ role: "developer", content: "x" }, { ...user, name: "Ada" })],
  [
    said(
      {
        role: "system",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      user,
    ),
  ],
  [said(user, { role: "assistant", content: null }, user)],
  [said(user, { role: "assistant", content: [] }, user)],
  [said(user, { role: "assistant", content: "x", refusal: null, tool_calls: null, audio: null }, user)],
  [said(user, { role: "assistant", tool_calls: [called] }, { role: "tool", tool_call_id: "c", content: [] })],
  [said({ role: "user", content: "" })],
  [said({ role: "user", content: "\ud800 half, \u0000 nil, \u202e turned, 🏳️‍🌈, <|im_end|>" })],
  [said(...Array.from({ length: 5000 }, () => user))],
  [said({ role: "user", content: "x".repeat(4_000_000) })],
  [chat({ temperature: null, top_p: 2, seed: 1, stop: ["x"], max_tokens: 0, logit_bias: {}, user: 1, n: 1 })],
  [chat({ unheard: { of: [1, 2, 3] }, metadata: null, store: true, parallel_tool_calls: false })],
  [chat({ tools: [], tool_choice: "none" })],
  [chat({ tools: [fn], tool_choice: { type: "function", function: { name: "f" } } })],
  [chat({ tools: [fn], tool_choice: "required", response_format: { type: "json_object" } })],
  [chat({ response_format: { type: "json_schema", json_schema: { name: "s", schema: {} } } })],
  ['{"model":"m","messages":[{"role":"user","content":"a"}],"__proto__":{"n":2},"constructor":1}'],
  ['{"model":"a","model":"m","messages":[{"role":"user","content":"\\ud83d"}]}'],
];

const responses: [body: string | object, wrong?: string | null][] = [
  [{}, "input"],
  [{ input: "x" }, "model"],
  [{ model: "m", input: null }, "input"],
  [{ model: "m", input: 7 }, "input"],
  [input(), "input"],
  [input("x"), "input[0]"],
  [input({ type: "message" }), "input[0].role"],
  [input({ role: "user" }), "input[0].content"],
  [input({ role: "tool", content: "x" }), "input[0].role"],
  [input({ role: "user", content: [{ type: "input_image", image_url: "x" }] }), "input[0].content[0]"],
  [input({ role: "user", content: [{ type: "input_file" }] }), "input[0].content[0]"],
  [input({ type: "function_call" }), "input[0].call_id"],
  [input({ type: "function_call", call_id: "c", name: "f", arguments: {} }), "input[0].arguments"],
  [input({ type: "function_call_output", output: "x" }), "input[0].call_id"],
  [input({ type: "function_call_output", call_id: "c", output: 1 }), "input[0].output"],
  [input({ type: "item_reference" }), "input[0].id"],
  [input({ type: "item_reference", id: "msg_none" }), "input"],
  [input({ type: "item_reference", id: "else" }), "input"],
  [input({ type: "computer_call" }), "input[0]"],
  [input({ type: "reasoning", summary: 1 }), "input[0].summary"],
  [{ model: "m", input: "x", instructions: {} }, "instructions"],
  [{ model: "m", input: "x", previous_response_id: "resp_none" }, "previous_response_id"],
  [{ model: "m", input: "x", previous_response_id: 1 }, "previous_response_id"],
  [{ model: "m", input: "x", background: true }, "background"],
  [{ model: "m", input: "x", conversation: "conv_1" }, "conversation"],
  [{ model: "m", input: "x", prompt: { id: "p" } }, "prompt"],
  [{ model: "m", input: "x", tools: [{ type: "function" }] }, "tools[0].name"],
  [{ model: "m", input: "x", tools: [{ type: "file_search" }] }, "tools[0]"],
  [{ model: "m", input: "x", text: "json" }, "text"],
  [{ model: "m", input: "x", text: { format: { type: "json_schema" } } }, "text.format.name"],
  [{ model: "m", input: "x", tool_choice: { type: "mcp" } }, "tool_choice.type"],
  [{ model: "m", input: "x" }],
  [{ model: "m", input: "", instructions: "" }],
  [{ model: "m", input: "x", instructions: null, text: {}, include: [], store: false, truncation: "auto" }],
  [input({ role: "developer", content: [{ type: "input_text", text: "x" }] }, user)],
  [input(user, { type: "reasoning", summary: [] }, { role: "assistant", content: "x" }, user)],
  [input(user, { type: "function_call", call_id: "c", name: "f", arguments: "{}" })],
  ...wrongArguments.map((given): [object, string] => [
    input(user, { type: "function_call", call_id: "c", name: "f", arguments: given }),
    "input[1].arguments",
  ]),
  [input({ type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "x" }] })],
  [
    {
      model: "m",
      input: "x",
      tools: [{ type: "function", name: "f", parameters: null }],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [] },
    },
  ],
];

test("each odd request has its status, and an error that names the field", async () => {
  for (const [path, all] of Object.entries({ "/chat/completions": chats, "/responses": responses })) {
    for (const [body, wrong] of all) {
      const { status, text } = await post(path, body);
      const shown = JSON.stringify(body).slice(0, 200);
      const error = JSON.parse(text).error ?? { message: "" };
      const notGiven = /was not given/.test(error.message);
      expect([shown, status]).toEqual([shown, wrong === undefined ? 200 : notGiven ? 404 : 400]);
      if (wrong === undefined) continue;
      expect([shown, error.param, error.type]).toEqual([shown, wrong, "invalid_request_error"]);
      expect(error.message.length).toBeGreaterThan(10);
    }
  }
  expect(logged).toEqual([]);
});

/** Every place in a value, with what may stand there instead; undefined for nothing. */
function* changed(value: unknown): Generator<unknown> {
  yield* [undefined, null, 7, "text", "", true, [], {}, [null], { type: "x" }];
  if (typeof value !== "object" || value === null) return;
  for (const [key, one] of Object.entries(value))
    for (const other of changed(one)) {
      const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value };
      Reflect.set(copy, key, other);
      yield copy;
    }
}

test("what real clients sent, changed at any place, is answered or refused, and nothing else", async () => {
  const all = capturedSessions().flatMap(({ requests }) => requests.slice(-1));
  const odd = all.flatMap(({ path, body }) => [...changed(body)].map((one) => ({ path, body: one })));
  const some = odd.filter((_, index) => index % 23 === 0);
  expect(some.length).toBeGreaterThan(500);
  const counts: Record<number, number> = {};
  for (const { path, body } of some) {
    const { status, text } = await post(path === "chat" ? "/chat/completions" : "/responses", {
      ...Object(body),
    });
    counts[status] = (counts[status] ?? 0) + 1;
    if (/^(data|event): /.test(text)) {
      expect(text).toMatch(/"(finish_reason":"stop"|type":"response.completed")/);
      continue;
    }
    const { error, object } = JSON.parse(text);
    if (status === 200) expect(object).toMatch(/^(chat\.completion|response)$/);
    else
      expect(error).toMatchObject({ message: expect.stringMatching(/.../), type: "invalid_request_error" });
  }
  expect(Object.keys(counts)).toEqual(["200", "400", "404"]);
  expect(logged).toEqual([]);
});

describe("the endpoint refuses", () => {
  const ask = async (path: string, options: RequestInit) => {
    const headers = { "content-type": "application/json", ...options.headers };
    const response = await fetch(endpoint.url + path, { ...options, headers });
    return [response.status, JSON.parse(await response.text()).error.message];
  };

  test("other paths", async () => {
    const refused = [404, expect.stringMatching(/no \/completions/)];
    expect(await ask("/completions", { method: "POST" })).toEqual(refused);
  });

  test("other methods", async () => {
    const refused = [405, expect.stringMatching(/GET is not for this path; POST is/)];
    expect(await ask("/chat/completions", {})).toEqual(refused);
    expect(await ask("/models", { method: "DELETE" })).toEqual([405, expect.stringMatching(/GET is/)]);
  });

  test.each([
    ["/responses", { method: "POST", headers: { origin: "http://evil.example" } }, /evil/],
    ["/models", { headers: { "sec-fetch-site": "cross-site" } }, /other sites/],
  ])("requests of other sites to %s", async (path, options, reason) => {
    expect(await ask(path, options)).toEqual([403, expect.stringMatching(reason)]);
  });

  test("bodies that are too long", async () => {
    const long = `"${"x".repeat(33 * 1024 * 1024)}"`;
    const [status] = await ask("/responses", { method: "POST", body: long }).catch(() => [413]);
    expect(status).toBe(413);
  });

  test("bodies that are too deep", async () => {
    const deep = `{"model":"m","input":"x","deep":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(await ask("/responses", { method: "POST", body: deep })).toEqual([
      400,
      "the request is nested too deeply: send at most 500 levels",
    ]);
  });

  test("bodies that are not JSON", async () => {
    const options = { method: "POST", body: "{}", headers: { "content-type": "text/plain" } };
    expect(await ask("/responses", options)).toEqual([
      415,
      "the request is not said to be JSON: send `Content-Type: application/json`",
    ]);
  });
});

test.each(oddTargets)("the target %j is answered by what is wrong with it", async (target) => {
  for (const method of ["GET", "POST"]) {
    const { status, text } = await rawRequest(endpoint.url, target, { method });
    expect([400, 403, 404, 405, 431]).toContain(status);
    expect(text).not.toContain("The endpoint failed");
  }
  expect(logged).toEqual([]);
});

/** What a server says to bytes; `half` closes the writing side after them, "gone" the whole socket. */
function raw(bytes: string, then: "half" | "gone" | "wait"): Promise<string> {
  const { port, hostname } = new URL(endpoint.url);
  return new Promise((resolve, reject) => {
    let read = "";
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => {
      socket.write(bytes, () => {
        if (then === "half") socket.end();
        if (then === "gone") socket.destroy();
      });
    });
    socket.on("data", (data) => {
      read += data;
      if (then === "wait") socket.destroy();
    });
    socket.once("error", reject);
    socket.once("end", () => socket.end());
    socket.once("close", () => resolve(read));
  });
}

test("sockets that say nonsense, half of a request, or go away leave the endpoint as it was; 200 at once are answered", async () => {
  const head = (length: number) =>
    `POST /v1/responses HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const body = '{"model":"m","input":"half"}';
  const sockets = [
    ...["", "\0\0\0\0", "GET\r\n\r\n", "POST / HTTP/9.9\r\n\r\n"].map((bytes) => raw(bytes, "half")),
    ...[head(1000), head(1000) + body, head(5), head(body.length) + body].map((bytes) => raw(bytes, "half")),
    ...[head(1000) + body, head(body.length) + body].map((bytes) => raw(bytes, "gone")),
    raw(`${head(body.length)}${body}`, "wait"),
    raw(`${head(3)}abcGARBAGE\r\n\r\n`, "wait"),
  ];
  const crowd = Array.from({ length: 200 }, (_, index) => post("/chat/completions", chat({ seed: index })));
  const told = await Promise.all(sockets);
  expect(told.at(-2)).toContain("1 messages");
  expect(told.at(-1)).toContain("HTTP/1.1 400 Bad Request");
  expect((await Promise.all(crowd)).map(({ status }) => status)).toEqual(Array(200).fill(200));
  expect((await post("/responses", { model: "m", input: "alive" })).status).toBe(200);
  expect(logged).toEqual([]);
});
