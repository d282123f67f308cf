import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { ToolExecution } from "../../../../src/contracts/tool.ts";
import { settingsOfHost } from "../../../../src/plan/pipeline/resolve/host-settings.ts";
import { openReward } from "../../../../src/work/tools/open-reward.ts";
import { createToolHost } from "../../../../src/work/tools/tool-host.ts";
import { samplePlan } from "../../../support/sample-plan.ts";
import { threadOf, writePlugin } from "../../../support/thread-of.ts";

const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const [resolved] = plan.tools;
if (resolved === undefined) throw new Error("the sample plan has no tool");
const { signal } = new AbortController();
const execution: ToolExecution = {
  instance: "a",
  function: "",
  key: "a/1/0",
  attempt: 1,
  config: {},
  signal,
  isReplay: false,
};

/** What a tool answers whose `execute` returns what `expression` is worth. */
async function answerOf(expression: string) {
  const { plugin } = await threadOf(`{ execute: async ({ url }) => (\n${expression}) }`, resolved!);
  return plugin.execute({ url: "" }, execution, undefined);
}

test.for([
  ['"4 files"', "4 files"],
  ["42", "42"],
  ["false", "false"],
  ["{ text: 42 }", "42"],
  ["{ files: [1, 2] }", '{"files":[1,2]}'],
  ["[]", "[]"],
] as const)("a tool that answers %s tells the model %s", async ([expression, text]) => {
  expect(await answerOf(expression)).toEqual({ text });
});

test("a tool's whole answer comes through", async () => {
  const whole = { text: "no", error: true, reward: -0.5, metrics: { length: 2 } };
  expect(await answerOf(JSON.stringify(whole))).toEqual(whole);
});

test.for([
  ["undefined", "returned nothing, but it must be { text } or { content }, or a value that JSON can hold"],
  ["new Map()", "returned a Map, but it must be { text } or { content }, or a value that JSON can hold"],
  ["{ text: {} }", 'returned {"text":{}}, but “text” must be text'],
  ['{ text: "", reward: NaN }', 'returned {"text":"","reward":"NaN"}, but “reward” must be a number'],
  ['{ text: "", metrics: { a: "b" } }', "“metrics.a” must be a number"],
] as const)(
  "a tool that answers %s is named: no other attempt would fare better",
  async ([expression, said]) => {
    const error = { code: "PLUGIN_ANSWER_INVALID", retryable: false, message: expect.stringContaining(said) };
    await expect(answerOf(expression)).rejects.toMatchObject(error);
  },
);

test.for([
  "url.missing.name",
  "missing",
  "Buffer.from(7)",
  '(() => { throw new SyntaxError("x") })()',
] as const)("%s is a mistake of the plugin, told with its line", async (expression) => {
  const place = expect.stringMatching(/plugin-\d+\.ts:2$/);
  const error = { code: "PLUGIN_BROKEN", retryable: false, params: { plugin: "tool-calculator", place } };
  await expect(answerOf(expression)).rejects.toMatchObject(error);
});

test.for([
  ['fetch("http://127.0.0.1:1")', "fetch failed"],
  ['JSON.parse("<html>Bad gateway")', "not valid JSON"],
  ['new Response("<html>").json()', "not valid JSON"],
  ['new RegExp("(")', "Unterminated group"],
  ['fetch("what the model wrote")', "Failed to parse URL"],
  ['(() => { throw new Error("the host is down") })()', "the host is down"],
] as const)("%s is no mistake of the plugin: it is tried again", async ([expression, reason]) => {
  const error = { code: "TOOL_FAILED", retryable: true, params: { reason: expect.stringContaining(reason) } };
  await expect(answerOf(expression)).rejects.toMatchObject(error);
});

test("a host that breaks off in the middle of its answer is no mistake of the plugin", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half");
    setTimeout(() => response.destroy(), 50);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((listening) => server.once("listening", listening));
  const { port } = server.address() as AddressInfo;
  const failing = answerOf(`(await fetch("http://127.0.0.1:${port}")).text()`);
  await expect(failing).rejects.toMatchObject({ code: "TOOL_FAILED", params: { reason: "terminated" } });
});

test("a mistake in a timer ends the plugin's thread, and is told with its line", async () => {
  const failing = answerOf("new Promise(() => setTimeout(() => url.missing.name))");
  await expect(failing).rejects.toMatchObject({ code: "PLUGIN_BROKEN" });
});

test.for([
  ["1", "returned the number 1, but it must be { reward, success }"],
  ["NaN", "returned the number NaN"],
  ["undefined", "returned nothing"],
  ["{ reward: NaN, success: true }", '{"reward":"NaN","success":true}, but “reward” must be a number'],
  ["{ reward: 1 }", '{"reward":1}, but “success” must be true or false'],
  ["{ reward: 1, success: 1 }", "“success” must be true or false"],
] as const)("a reward that answers %s is named as what it is", async ([expression, said]) => {
  const entry = writePlugin(`{ score: () => (${expression}) }`);
  const host = createToolHost("reward", settingsOfHost(plan, "reward"), () => {});
  const [resolvedReward] = plan.rewards;
  if (resolvedReward === undefined) throw new Error("The plan has no reward.");
  const reward = await openReward({ ...resolvedReward, entry }, resolvedReward.calls, host, () => {});
  onTestFinished(reward.close);
  const task = { data_source: "", prompt: [], reward_model: { ground_truth: "" } };
  const scoring = reward.plugin.score({
    task,
    turns: [],
    outcome: "answered",
    answer: "",
    config: {},
    signal,
  });
  const error = { code: "PLUGIN_ANSWER_INVALID", message: expect.stringContaining(said) };
  await expect(scoring).rejects.toMatchObject(error);
});
