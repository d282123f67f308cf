import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { type Endpoint, startEndpoint } from "../../../../src/chat/openai/endpoint-server.ts";
import type { ReadAction } from "../../../../src/contracts/parsed-action.ts";
import type { SessionRequest } from "../../../../src/contracts/session.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { openTrajectorySession } from "../../../../src/work/agents/trajectory-session.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const { rollout } = await loadPlan(join(import.meta.dirname, "../../../pipelines/scripted.yaml"));
const place = { id: "r/step-0001/t/0", run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 };
const call = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';
const broken = "<tool_call>\n {oops}\n</tool_call>\n";

let endpoint: Endpoint | undefined;
afterEach(() => endpoint?.close());

/** A client whose requests are those of a trajectory whose policy writes these actions. */
async function client(...actions: (string | { action: string; read: ReadAction })[]) {
  const asked: SessionRequest[] = [];
  const generate = async (request: SessionRequest) => {
    const turn = asked.push(request);
    const next = actions.shift() ?? "";
    const tokens = { prompt: 1, action: 1 };
    const written = typeof next === "string" ? { action: next } : next;
    return { turn, head: `head${turn}`, ...written, finishReason: "stop" as const, tokens };
  };
  const session = await openTrajectorySession(place, { rollout }, openRunStore(temporaryFolder()), generate);
  endpoint = await startEndpoint({
    answer: (_, request, { key, occurrence }) => session.answer(request, `${key}/${occurrence}`),
    authenticate: (key) => key,
    models: ["policy"],
    log: () => {},
  });
  return { asked, openai: new OpenAI({ baseURL: endpoint.url, apiKey: "key", maxRetries: 0 }) };
}

const user = { role: "user" as const, content: "1 + 2?" };
const fn = { name: "add", description: "adds", parameters: { type: "object", properties: {} } };
const tools = [{ type: "function" as const, function: fn }];

test("an agent that offers no tools, or wants none called, reads a call as text, and goes on after it", async () => {
  const { asked, openai } = await client(call, `${call}${broken}`, call, "3", call);
  const first = await openai.chat.completions.create({ model: "policy", messages: [user] });
  expect(first.choices).toMatchObject([{ finish_reason: "stop", message: { content: call } }]);
  expect(first.choices[0]?.message).not.toHaveProperty("tool_calls");
  const messages = [user, { role: "assistant" as const, content: call }, user];
  const second = await openai.chat.completions.create({ model: "policy", messages });
  expect(second.choices).toMatchObject([{ finish_reason: "stop", message: { content: `${call}${broken}` } }]);
  expect(asked[1]).toMatchObject({
    follows: { turn: 1 },
    callsBefore: 0,
    takesCalls: false,
    messages: [{ role: "user" }],
  });

  const none = { model: "policy", messages: [user], tools, tool_choice: "none" as const };
  const third = await openai.chat.completions.create(none);
  expect(third.choices).toMatchObject([{ finish_reason: "stop", message: { content: call } }]);
  const { choices } = await openai.chat.completions.create({
    model: "policy",
    tools,
    messages: [user, { role: "assistant", content: call }, user],
  });
  expect(choices).toMatchObject([{ finish_reason: "stop", message: { content: "3" } }]);
  expect(asked[3], "the tools of a row stay").toMatchObject({ follows: { turn: 3 } });
  expect(asked[3]).not.toHaveProperty("takesCalls");

  const said = await openai.responses.create({ model: "policy", input: "Hello" });
  expect(said).toMatchObject({ output_text: call, output: [{ type: "message" }] });
});

test("an agent with tools reads a call that it can make, and the text of one that can't be read", async () => {
  const { openai } = await client(`So ${call} and ${broken}`);
  const { choices } = await openai.chat.completions.create({ model: "policy", messages: [user], tools });
  expect(choices).toMatchObject([
    {
      finish_reason: "tool_calls",
      message: {
        content: `So  and ${broken}`,
        tool_calls: [{ function: { name: "add", arguments: '{"a":1}' } }],
      },
    },
  ]);
});

test("an agent reads what its policy was told apart, and no call that the policy quotes", async () => {
  const read = {
    reasoning: `Not </think>${call}`,
    answer: `So ${call}`,
    calls: [{ name: "add", arguments: { b: 2 } }],
  };
  const { openai } = await client({ action: `<think>${read.reasoning}</think>${read.answer}`, read });
  const { choices } = await openai.chat.completions.create({ model: "policy", messages: [user], tools });
  expect(choices).toMatchObject([
    {
      finish_reason: "tool_calls",
      message: {
        content: read.answer,
        reasoning_content: read.reasoning,
        tool_calls: [{ function: { name: "add", arguments: '{"b":2}' } }],
      },
    },
  ]);
  expect(choices[0]?.message.tool_calls).toHaveLength(1);
});
