import { tool as langchainTool } from "@langchain/core/tools";
import { createTool } from "@mastra/core/tools";
import { tool as openAiTool, RunContext } from "@openai/agents-core";
import { jsonSchema, tool } from "ai";
import { idempotencyKey, recorded } from "everturn/agent";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { type Endpoint, startEndpoint } from "../../../../src/chat/openai/endpoint-server.ts";
import { agentCallsRow } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { readRow } from "../../../../src/run/store/row.ts";
import { type AgentCalls, openAgentCalls } from "../../../../src/work/agents/agent-calls.ts";
import { recordedCallPaths } from "../../../../src/work/agents/recorded-call-paths.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const place = { id: "r/step-0001/t/0", run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 };

/** What is recorded of a trajectory, and its agent's processes: one after the other, in this one. */
function trajectory() {
  const store = openRunStore(temporaryFolder());
  return {
    records: () => readRow(store, agentCallsRow(place)),
    /** The agent is started: `turns` are recorded of its trajectory. */
    start: async (turns = 0) => {
      await stop();
      const calls = await openAgentCalls(place, store, turns);
      let now = turns;
      const session = {
        begin: calls.begin,
        end: (id: End[0], outcome: End[1]) => calls.end(id, outcome, now),
      };
      endpoint = await startEndpoint({
        answer: async () => Promise.reject(new Error("no model here")),
        authenticate: (key) => key,
        models: [],
        log: () => {},
        others: recordedCallPaths(() => session),
      });
      const { url: OPENAI_BASE_URL } = endpoint;
      Object.assign(process.env, { OPENAI_BASE_URL, OPENAI_API_KEY: "key", EVERTURN_TRAJECTORY: place.id });
      return { ...calls, onTurn: () => void now++ };
    },
  };
}

type End = Parameters<AgentCalls["end"]>;

let endpoint: Endpoint | undefined;

async function stop(): Promise<void> {
  await endpoint?.close();
  endpoint = undefined;
  for (const name of ["OPENAI_BASE_URL", "OPENAI_API_KEY", "EVERTURN_TRAJECTORY"]) delete process.env[name];
}

afterEach(stop);

test("the k-th call with the same arguments is given what the k-th one gave, and is made once", async () => {
  const { start } = trajectory();
  const made: unknown[] = [];
  const book = recorded("book", async (seat: { row: number; place?: string }) => {
    made.push([seat, idempotencyKey()]);
    return { ...seat, ticket: made.length, left: undefined };
  });
  await start();
  const first = [
    await book({ row: 1, place: "a" }),
    await book({ row: 1, place: "a" }),
    await book({ row: 2 }),
  ];
  expect(first).toEqual([1, 2, 3].map((ticket) => expect.objectContaining({ ticket })));
  expect(first[0]).not.toHaveProperty("left");
  await start(3);
  expect([
    await book({ place: "a", row: 1 }),
    await book({ row: 2 }),
    await book({ row: 1, place: "a" }),
  ]).toEqual([first[0], first[2], first[1]]);
  expect(made).toHaveLength(3);
  expect(new Set(made.map((one) => JSON.stringify(one))).size).toBe(3);
  expect(await book({ row: 1, place: "a" })).toMatchObject({ ticket: 4 });
  expect(idempotencyKey()).toBeUndefined();
});

test("a call whose process died has the same idempotency key when it is made again; what came of it is recorded once", async () => {
  const { start, records } = trajectory();
  const keys: unknown[] = [];
  let gate = Promise.withResolvers<void>();
  const pay = recorded("pay", async (amount: number, _: AbortSignal) => {
    keys.push(idempotencyKey());
    await gate.promise;
    return `${amount} paid`;
  });
  const { signal } = new AbortController();
  await start();
  const lost = pay(5, signal).catch((error: Error) => error.message);
  while (keys.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await stop();
  gate.resolve();
  expect(await lost).toMatch(/fetch failed|refused/);
  gate = Promise.withResolvers<void>();
  gate.resolve();
  await start();
  expect(await pay(5, signal)).toBe("5 paid");
  expect(keys[0]).toMatch(/^r\/step-0001\/t\/0\/pay\/[0-9a-f]{16}\/1$/);
  expect(keys[1]).toBe(keys[0]);
  expect(await records()).toMatchObject([{ name: "pay", arguments: [5], outcome: { result: "5 paid" } }]);
});

test("a failure is no result: it is thrown again only where the agent went on after it", async () => {
  const { start, records } = trajectory();
  const made: string[] = [];
  const flaky = recorded("flaky", async () => {
    made.push(idempotencyKey() ?? "");
    if (made.length === 1) throw new Error("busy");
    return made.length;
  });
  const first = await start(2);
  await expect(flaky()).rejects.toThrow("busy");
  await start(2); // it died of it
  expect(await flaky()).toBe(2);
  expect(made[1]).toBe(made[0]);
  expect(first.madeFor({ id: "none", tool: "flaky", arguments: {} })).toBeUndefined();
  expect((await records()).map(({ outcome }) => outcome)).toEqual([{ error: "busy" }, { result: 2 }]);

  made.length = 0;
  const retried = trajectory();
  const process = await retried.start(2);
  await expect(flaky()).rejects.toThrow("busy");
  process.onTurn(); // the model was told
  expect(await flaky()).toBe(2);
  expect(made[1]).toBe(made[0]);
  await retried.start(3);
  await expect(flaky()).rejects.toThrow("busy");
  expect(await flaky()).toBe(2);
  expect(made).toHaveLength(2);
});

test("what JSON can't say is refused, and outside of a trajectory all is as it was", async () => {
  const { start, records } = trajectory();
  const when = recorded("when", () => new Date(0));
  expect(when()).toEqual(new Date(0));
  expect(() => recorded("none", { name: "none" })).toThrow("takes a function, or a tool");
  await start();
  await expect(when()).rejects.toThrow("when gave what JSON can't say");
  expect(await records()).toMatchObject([{ outcome: { error: expect.stringContaining("JSON") } }]);
  const wrong = async (path: string, body: unknown) => {
    const headers = { authorization: "Bearer key" };
    const response = await fetch(`${endpoint?.url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return `${response.status} ${JSON.parse(await response.text()).error.message}`;
  };
  expect(await wrong("/recorded_calls", {})).toBe("400 name is missing: send a text.");
  expect(await wrong("/recorded_calls", { name: "a", call_id: 1 })).toBe("400 call_id is 1: send a text.");
  expect(await wrong("/recorded_calls", [])).toBe("400 The body is a list: send a JSON object.");
  expect(await wrong("/recorded_results", { id: "x", result: 1 })).toMatch(/^404 No call x is under way/);
  expect(await wrong("/recorded_results", { id: "x", result: 1, error: "e" })).toMatch(
    /^400 .*send one of them/,
  );
});

test("tools of five libraries are made once, and known by the ids of their calls", async () => {
  const { start } = trajectory();
  let made = 0;
  const degrees = ({ city }: { city: string }) => `${city} ${++made}`;
  const parameters = z.object({ city: z.string() });
  const ofSdk = recorded("sdk", tool({ inputSchema: parameters, execute: degrees }));
  const series = recorded(
    "series",
    tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object" }),
      async *execute({ city }) {
        yield "wait";
        yield degrees({ city });
      },
    }),
  );
  const ofLangChain = recorded(
    "langchain",
    langchainTool(degrees, { name: "langchain", description: "d", schema: parameters }),
  );
  const ofMastra = recorded(
    "mastra",
    createTool({
      id: "mastra",
      description: "d",
      inputSchema: parameters,
      execute: async (input) => degrees(input),
    }),
  );
  const ofAgents = recorded(
    "agents",
    openAiTool({ name: "agents", description: "d", parameters, execute: degrees }),
  );
  const ofChat = recorded("chat", {
    type: "function" as const,
    function: { name: "chat", parameters: {}, parse: JSON.parse, function: degrees },
  });
  const inline = recorded("inline", (input: { city: string }, _: object) => degrees(input));
  const options = (toolCallId: string) => ({ toolCallId, messages: [], context: {} });
  const all = async () => [
    await ofSdk.execute?.({ city: "Oslo" }, options("call_1")),
    await series.execute?.({ city: "Oslo" }, options("call_2")),
    await ofLangChain.invoke({ type: "tool_call", id: "call_3", name: "langchain", args: { city: "Oslo" } }),
    await ofMastra.execute?.({ city: "Oslo" }, Object({ agent: { toolCallId: "call_4" } })),
    await ofAgents.invoke(new RunContext(), '{"city": "Oslo"}', Object({ toolCall: { callId: "call_5" } })),
    await ofChat.function.function({ city: "Oslo" }),
    await inline({ city: "Oslo" }, options("call_7")),
  ];
  const text = (results: unknown[]) => results.map((one) => Reflect.get(Object(one), "content") ?? one);
  await start();
  const first = text(await all());
  expect(first).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `Oslo ${number}`));
  const again = await start(1);
  expect(text(await all())).toEqual(first);
  expect(made).toBe(7);
  for (const [index, tool] of [
    "sdk",
    "series",
    "langchain",
    "mastra",
    "agents",
    "chat",
    "inline",
  ].entries()) {
    const call = { id: `call_${index + 1}`, tool, arguments: { city: "Oslo" } };
    expect(again.madeFor(call), tool).toMatchObject({ attempts: 1 });
    expect(again.madeFor(call)).toBeUndefined();
  }
});
