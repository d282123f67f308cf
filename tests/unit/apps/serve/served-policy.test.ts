import { join } from "node:path";
import { expect, test } from "vitest";
import { keptTurns } from "../../../../src/apps/serve/kept-turns.ts";
import { servedAgent } from "../../../../src/apps/serve/served-agent.ts";
import { servedPolicy } from "../../../../src/apps/serve/served-policy.ts";
import type { ToolRequest } from "../../../../src/apps/serve/served-tools.ts";
import { formatNamed } from "../../../../src/chat/formats/parse-action.ts";
import type {
  EndpointMessage,
  ModelAnswer,
  ModelRequest,
} from "../../../../src/chat/openai/model-request.ts";
import type { ToolDefinition } from "../../../../src/contracts/message.ts";
import type { GenerationRequest, Policy } from "../../../../src/contracts/policy.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { png } from "../../../support/images.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const tokenizer = await loadTokenizer(join(root, "pipelines", "calculator", "tokenizer"));
const framing = createFraming(tokenizer);
const hermes = formatNamed("hermes");
const tool = { name: "add", description: "adds", parameters: { type: "object" } };
const written = (given: string) => `<tool_call>{"name": "add", "arguments": ${given}}</tool_call>`;

const plain: ModelRequest = {
  path: "chat",
  stream: false,
  includeUsage: false,
  model: "m",
  toolChoice: "auto",
  messages: [],
  tools: [],
};

/** A policy that says what the test has it say, framed by a real tokenizer. */
function scripted(
  script: string[],
  more: {
    system?: string;
    turns?: number;
    sessions?: number;
    demonstratedTools?: ToolDefinition[];
    policy?: Partial<Policy>;
  } = {},
) {
  const asked: GenerationRequest[] = [];
  const forgotten: string[] = [];
  const policy = {
    ...framing,
    ...more.policy,
    generate: async (request: GenerationRequest) => {
      asked.push(request);
      const said = script.shift() ?? "";
      const isCut = said.endsWith("…");
      const tokens = [...tokenizer.encode(said), ...(isCut ? [] : [tokenizer.endOfTurn.id])];
      const none = tokens.map(() => 0);
      const logprobs = { logprobs: none, temperedLogprobs: none, samplingLogprobs: none };
      return {
        ...logprobs,
        tokens,
        text: said,
        finishReason: isCut ? ("length" as const) : ("stop" as const),
      };
    },
  };
  const inUse = {
    policy,
    version: 3,
    contextLength: 4000,
    seed: 0,
    system: more.system,
    demonstratedTools: more.demonstratedTools,
    sampling: { temperature: 0, maxTokens: 500 },
    stopTexts: () => ["STOP"],
    read: (text: string, tools: ModelRequest["tools"], callsBefore: number) =>
      hermes.parse(text, { tools, callsBefore }),
    format: hermes,
  };
  const { turns = 100, sessions = 10 } = more;
  const served = servedPolicy(inUse, { turns, sessions, onForget: (session) => forgotten.push(session) });
  const { signal } = new AbortController();
  return {
    served,
    asked,
    forgotten,
    text: (index: number) => tokenizer.decode(asked[index]?.tokens ?? []),
    ask: (messages: EndpointMessage[], given: Partial<ModelRequest> & { session?: string } = {}) => {
      const { session = "s", ...rest } = given;
      const request: ModelRequest = { ...plain, messages, tools: [tool], ...rest };
      return served.answer(session, request, { key: "", occurrence: 1, signal });
    },
  };
}

const system: EndpointMessage = { role: "system", content: "S" };
const user: EndpointMessage = { role: "user", content: "1 + 2?" };
/** A turn as a client returns it that writes arguments anew. */
const returned = ({ text, calls }: ModelAnswer): EndpointMessage => ({
  role: "assistant",
  content: text.trim(),
  calls: calls.map((call) => ({ ...call, arguments: '{"b":2,"a":1}' })),
});
const results = ({ calls }: ModelAnswer): EndpointMessage[] =>
  calls.map(({ id }, index) => ({ role: "tool", content: `r${index}`, callId: id }));

test("prompts show tools in the order of the run's demonstrations", async () => {
  const other = { ...tool, name: "map" };
  const { ask, text } = scripted(["3."], { demonstratedTools: [tool, other] });
  await ask([user], { tools: [other, tool] });
  expect(text(0)).toContain("add()\nmap()");
});

test("a conversation that comes back goes on after the tokens that were sampled, to the last", async () => {
  const odd = `${written('{"a":1.0,  "b": 2}')}\n${written('{"a":0}')}`;
  const { ask, asked } = scripted([odd, "It is  3.", "Yes."]);
  const first = await ask([system, user]);
  expect(first).toMatchObject({
    text: "",
    finishReason: "tool_calls",
    calls: [
      { name: "add", arguments: '{"a":1,"b":2}' },
      { name: "add", arguments: '{"a":0}' },
    ],
  });
  expect(new Set(first.calls.map(({ id }) => id)).size).toBe(2);
  for (const { id } of first.calls) expect(id).toMatch(/^[a-z0-9]{9}$/);
  const messages = [system, user, returned(first), ...results(first)];
  const second = await ask(messages);
  expect(second).toMatchObject({ text: "It is  3.", finishReason: "stop", calls: [] });
  const action = [...tokenizer.encode(odd), tokenizer.endOfTurn.id];
  const start = asked[0]?.tokens ?? [];
  expect(asked[1]?.tokens.slice(0, start.length + action.length)).toEqual([...start, ...action]);
  await ask([...messages, { role: "assistant", content: "It is  3." }, { role: "user", content: "Sure?" }]);
  const before = asked[1]?.tokens ?? [];
  const answer = [...tokenizer.encode("It is  3."), tokenizer.endOfTurn.id];
  expect(asked[2]?.tokens.slice(0, before.length + answer.length)).toEqual([...before, ...answer]);
  expect(asked[2]).toMatchObject({
    version: 3,
    sampling: { temperature: 0, maxTokens: 500, stop: ["STOP"] },
    tools: [{ name: "add", parameters: { properties: {} } }],
  });
  expect(second.usage).toEqual({ prompt: before.length, completion: answer.length });
});

test("after an action that was cut, which lacks its end, the conversation is framed whole", async () => {
  const { ask, asked, text } = scripted(["one…", "two", "three"]);
  const cut = await ask([user]);
  expect(cut.finishReason).toBe("length");
  const again = [user, { role: "assistant" as const, content: cut.text }, user];
  await ask(again);
  expect(text(1)).toBe(
    tokenizer.decode(
      framing.framePrompt(
        [
          { role: "user", content: "1 + 2?" },
          { role: "assistant", content: cut.text },
          { role: "user", content: "1 + 2?" },
        ],
        [{ ...tool, parameters: { ...tool.parameters, properties: {} } }],
      ).tokens,
    ),
  );
  await ask([...again, { role: "assistant", content: "two" }, user]);
  const kept = asked[1]?.tokens ?? [];
  expect(asked[2]?.tokens.slice(0, kept.length)).toEqual(kept);
});

test("a conversation without a system message has the server's; a tool that is not to be called is not shown", async () => {
  const { ask, text } = scripted(["a", "b", "c"], { system: "Be brief." });
  await ask([user]);
  expect(text(0)).toContain("Be brief.");
  await ask([system, user], { toolChoice: "none" });
  expect(text(1)).not.toContain("Be brief.");
  expect(text(0)).toContain("add()");
  expect(text(1)).not.toContain("add()");
});

test("a call that can't be read is returned as text", async () => {
  const { ask } = scripted(["<tool_call>{oops</tool_call>"]);
  expect(await ask([user])).toMatchObject({
    finishReason: "stop",
    calls: [],
    text: expect.stringContaining("{oops"),
  });
});

test("a conversation that leaves no room for an action is refused", async () => {
  const long: EndpointMessage = { role: "user", content: "x".repeat(5000) };
  await expect(scripted([""]).ask([long])).rejects.toMatchObject({
    status: 400,
    code: "context_length_exceeded",
  });
});

test("the session that was used least recently is forgotten first", async () => {
  const { ask, forgotten } = scripted(["4"], { sessions: 2 });
  for (const session of ["t", "s", "u"]) await ask([user], { session });
  expect(forgotten).toEqual(["t"]);
});

test("turns are kept by rows: of more than the limit, those go that were not gone on with for longest", () => {
  const turns = keptTurns(3);
  const turn = (parent: number | null) => {
    const answer = { id: "a", text: "", calls: [] };
    turns.add({
      parent,
      messages: [],
      answer,
      tokens: [],
      images: [],
      calls: 0,
      ownIds: new Map(),
      isCut: false,
    });
  };
  for (const parent of [null, null, 0]) turn(parent);
  expect(turns.chain(2).map(({ number }) => number)).toEqual([0, 2]);
  turn(2);
  expect(turns.all().map(({ number }) => number)).toEqual([0, 2, 3]);
  turn(3); // a row alone is kept, however long
  expect(turns.all()).toHaveLength(4);
  turn(null);
  expect(turns.all().map(({ number }) => number)).toEqual([5]);
  turn(2); // its row has gone meanwhile
  expect(turns.all()).toHaveLength(1);
  expect(turns.chain(2)).toEqual([]);
});

test("with tools of its own, the policy's calls are made here, and a conversation that comes back goes on after them", async () => {
  const call = (a: number) => `<tool_call>{"name": "add", "arguments": {"a": ${a}}}</tool_call>`;
  const script = [`${call(1)}\n${call(2)}`, call(3), "It is 6.", "Yes.", call(4), call(5), call(6), call(9)];
  const { served, asked, text } = scripted(script);
  const made: [string, number][] = [];
  const tools = {
    functions: [{ ...tool, own: tool }],
    call: async ({ trajectory, arguments: { a } }: ToolRequest) => {
      made.push([trajectory, Number(a)]);
      return a === 9 ? { text: "", failed: "gone", done: true } : { text: `r${a}`, done: false };
    },
  };
  const agent = servedAgent(served, tools, { maxTurns: 3, sessions: 10, turns: 100 });
  const { signal } = new AbortController();
  const ask = (messages: EndpointMessage[], given: Partial<ModelRequest> = {}) =>
    agent.answer("s", { ...plain, messages, ...given }, { key: "", occurrence: 1, signal });
  const first = await ask([user]);
  expect(first).toMatchObject({ text: "It is 6.", calls: [], finishReason: "stop" });
  expect(made.map(([, a]) => a)).toEqual([1, 2, 3]);
  expect(text(2)).toMatch(/r1[\s\S]*r2[\s\S]*r3/);
  const again: EndpointMessage[] = [
    user,
    { role: "assistant", content: "It is 6." },
    { role: "user", content: "Sure?" },
  ];
  const second = await ask(again);
  expect(second.text).toBe("Yes.");
  const before = asked[2]?.tokens ?? [];
  expect(asked[3]?.tokens.slice(0, before.length)).toEqual(before);
  const third: EndpointMessage[] = [
    ...again,
    { role: "assistant", content: "Yes." },
    { role: "user", content: "And 4 + 5 + 6?" },
  ];
  expect(await ask(third)).toMatchObject({ calls: [], finishReason: "length" });
  expect(made.map(([, a]) => a)).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(made.map(([trajectory]) => trajectory)).size, "on the same instances").toBe(1);
  await expect(ask([system, user])).rejects.toMatchObject({ status: 502 });
});

test("images of requests become tokens, and those of earlier turns keep their places", async () => {
  const chatTemplate = tokenizer.chatTemplate.replaceAll(
    "+ message.content +",
    "+ (message.content if message.content is string else (message.content | map(attribute='text', default='<|endoftext|>') | join)) +",
  );
  const token = { text: "<|endoftext|>", id: tokenizer.idOf("<|endoftext|>") ?? 0 };
  const seeing = createFraming(
    { ...tokenizer, chatTemplate },
    { token, expansion: ({ width }) => ({ text: token.text.repeat(width ?? 0), tokens: width ?? 0 }) },
  );
  const policy = {
    ...seeing,
    readsImages: true,
    measureImage: async (_: string, read: () => Promise<Uint8Array>) => {
      if ((await read()).length > 60) throw new Error("it is too long");
      return { width: 3, height: 4 };
    },
  };
  const { ask, asked } = scripted(["A cat.", "A dog."], { policy });
  const url = (data: Uint8Array) => `data:image/png;base64,${Buffer.from(data).toString("base64")}`;
  const shows = (content: string, data: Uint8Array): EndpointMessage => ({
    role: "user",
    content,
    sentImages: [{ field: "messages[0].content[0]", type: "image_url", url: url(data), at: 0 }],
  });
  const [cat, dog] = [png(5, 6), png(7, 8)];
  await ask([shows("What?", cat)], { tools: [] });
  const first = asked[0]?.images?.[0];
  expect(asked[0]?.tokens.slice(first?.start).slice(0, 4)).toEqual([
    token.id,
    token.id,
    token.id,
    ...tokenizer.encode("What").slice(0, 1),
  ]);
  expect(Uint8Array.from((await asked[0]?.readImage?.(first?.sha256 ?? "")) ?? [])).toEqual(cat);

  const later = [shows("What?", cat), { role: "assistant" as const, content: "A cat." }, shows("And?", dog)];
  await ask(later, { tools: [] });
  expect(asked[1]?.tokens.slice(0, asked[0]?.tokens.length)).toEqual(asked[0]?.tokens);
  expect(asked[1]?.images?.[0]).toEqual(first);
  const second = asked[1]?.images?.[1];
  expect(second?.start).toBeGreaterThan(asked[0]?.tokens.length ?? 0);
  expect(asked[1]?.tokens[second?.start ?? 0]).toBe(token.id);

  const broken = Buffer.concat([png(5, 6), Buffer.alloc(100)]);
  await expect(ask([shows("What?", broken)], { tools: [] })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("is an image that can't be used: it is too long"),
  });
});
