import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Plan } from "../../src/contracts/plan.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { byStdio, filesystem } from "../support/mcp-servers.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { storedRecord } from "../support/stored-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const note = join(folder, "note.txt");
const plugin = (name: string) => join(import.meta.dirname, "..", "..", "plugins", name);
const file = (name: string) => join(import.meta.dirname, "..", "one-file", `${name}.ts`);
const call = (parameters: object, name = "length") =>
  `<tool_call>${JSON.stringify({ name, arguments: parameters })}</tool_call>`;
test("a run with tools, a reward and data sets of one file each, and tools of other ecosystems as they are", async () => {
  const conversations = [
    [
      call({ value: 1.5, unit: "km" }) + call({ value: -1 }) + call({ value: "1" }) + call({ value: 7 }),
      call({ city: "Oslo" }, "weather") + call({ city: 3 }, "weather") + call({}, "server"),
      call({ note: "a" }, "pin") + call({ note: "" }, "pin"),
      call({ note: "b" }, "pin") + call({ from: 0 }, "look") + call({}, "look"),
      call({ message: "東京" }, "echo") + call({ a: 2, b: 3 }, "sum") + call({ a: "x" }, "sum"),
      call({}, "get-tiny-image") + call({ path: note, content: "one\ntwo" }, "write_file"),
      call({ path: note, head: 1 }, "read_text_file") + call({ path: "/etc/passwd" }, "read_text_file"),
      call({ answer: "1001" }, "finish"),
    ],
  ];
  const tool = { plugin: file("length"), config: { digits: 1 } };
  const everything = { ...byStdio, shared: true };
  const files = { command: process.execPath, args: [filesystem, folder], recovery: "replay" };
  const pipeline = writeScriptedPipeline(folder, conversations, {
    tools: [
      tool,
      {
        plugin: plugin("tool-mcp"),
        name: "everything",
        config: everything,
        functions: ["echo", { function: "get-sum", name: "sum" }, "get-tiny-image"],
      },
      {
        plugin: plugin("tool-mcp"),
        name: "files",
        config: files,
        functions: ["write_file", "read_text_file"],
      },
      { plugin: plugin("tool-finish") },
      { plugin: file("board"), functions: ["pin", { function: "read", name: "look" }] },
      ...["weather", "wrapped"].map((name) => ({ plugin: `${file("foreign")}#${name}` })),
    ],
    reward: [
      { plugin: file("near"), config: { within: 2 } },
      { plugin: file("near"), name: "strict", weight: 0, config: { within: 0 } },
    ],
    dataset: {
      train: { plugin: file("lengths"), config: { tasks: 2 } },
      validation: { plugin: file("lengths"), config: { tasks: 1 } },
    },
    rollout: { batchSize: 2 },
  });
  const ended = await everturn("run", pipeline, "--runs", folder, "--json");
  expect(ended.code, ended.stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(ended.stdout);
  const { root } = runFolder(folder, run);
  const records = await stageRecords(root, "step-0001");
  expect(records).toHaveLength(2);
  for (const { task, turns, reward, metrics, outcome, answer } of records) {
    expect(task.data_source).toBe("lengths");
    expect(turns[0]?.toolCalls.map((one) => [one.tool, one.observation])).toEqual([
      ["length", "1500.0"],
      ["length", "error: value: a length is not negative"],
      ["length", expect.stringContaining("value must be a number")],
      ["length", "7.0"],
    ]);
    expect(turns[1]?.toolCalls).toMatchObject([
      { tool: "weather", observation: '{"degrees":3,"unit":"C"}' },
      { tool: "weather", observation: expect.stringContaining("error: city must be text, but is 3.") },
      { tool: "server", observation: "up" },
    ]);
    expect([...(turns[2]?.toolCalls ?? []), ...(turns[3]?.toolCalls ?? [])]).toMatchObject([
      { tool: "pin", observation: "1", valid: true },
      { tool: "pin", observation: "error: note: a note is not empty", valid: false },
      { tool: "pin", observation: "2" },
      {
        tool: "look",
        observation: expect.stringContaining("from is 0, but must be at least 1"),
        valid: false,
      },
      { tool: "look", observation: "a, b" },
    ]);
    expect(turns.slice(4, 7).flatMap(({ toolCalls }) => toolCalls)).toMatchObject([
      { tool: "echo", observation: "Echo: 東京", valid: true, attempts: 1 },
      { tool: "sum", observation: "The sum of 2 and 3 is 5." },
      { tool: "sum", observation: expect.stringContaining("a must be a number"), valid: false },
      { tool: "get-tiny-image", media: [{ type: "image", frames: [{ mediaType: "image/png", width: 20 }] }] },
      { tool: "write_file", observation: expect.stringContaining("Successfully wrote") },
      { tool: "read_text_file", observation: "one" },
      { tool: "read_text_file", observation: expect.stringContaining("Access denied"), valid: true },
    ]);
    expect({ outcome, answer }).toEqual({ outcome: "done", answer: "1001" });
    const near = task.reward_model.ground_truth === "1000" ? 0.5 : 0;
    expect({ reward, metrics }).toMatchObject({ reward: near, metrics: { near, strict: 0 } });
  }
  const [step = ""] = readFileSync(join(root, "metrics.jsonl"), "utf8").split("\n");
  expect(JSON.parse(step)).toMatchObject({ rewardMean: 0.25, metrics: { near: 0.25, strict: 0 } });
  const plan = storedRecord<Plan>(join(root, "plan", "1.json"));
  expect(plan.tools[0]?.source?.files).toEqual({ [file("length")]: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(plan.rewards[0]?.manifest).toMatchObject({
    name: "reward-near",
    reward: { pure: true, timeout: "1m" },
  });
});

test("a run of whose parts each is one file: policy, loop, trainer and loss, too", async () => {
  const lengths = (tasks: number) => ({ plugin: file("lengths"), config: { tasks } });
  const demonstration = [
    { role: "user", content: "1 km in m" },
    { role: "assistant", content: "1000" },
  ];
  const demonstrations = join(folder, "demonstrations.jsonl");
  writeFileSync(demonstrations, `${JSON.stringify({ messages: demonstration })}\n`);
  const pipeline = join(folder, "whole.yaml");
  const whole = {
    name: "whole",
    seed: 3,
    steps: 2,
    policy: { plugin: file("terse"), config: { tokens: 5 } },
    dataset: { train: lengths(4), validation: lengths(2) },
    tools: [file("length")],
    loop: { plugin: file("insist"), config: { times: 1 } },
    reward: file("near"),
    trainer: {
      plugin: file("steady"),
      config: { rate: 0.002 },
      loss: { plugin: file("raised"), config: { by: 100 } },
    },
    warmStart: { demonstrations, steps: 2, batchSize: 2 },
    rollout: { batchSize: 4, groupSize: 2 },
  };
  writeFileSync(pipeline, JSON.stringify(whole));
  const ended = await everturn("run", pipeline, "--runs", folder, "--json");
  expect(ended.code, ended.stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(ended.stdout);
  const { root } = runFolder(folder, run);
  const records = await stageRecords(root, "step-0002");
  expect(records).toHaveLength(4);
  for (const { outcome, turns } of records) {
    expect(outcome).toBe("answered");
    expect(turns.map(({ toolCalls }) => toolCalls.map(({ observation }) => observation))).toEqual([
      ["1000"],
      [],
    ]);
  }
  const steps = readFileSync(join(root, "metrics.jsonl"), "utf8").trim().split("\n");
  expect(steps).toHaveLength(2);
  for (const step of steps) {
    const { policyLoss, learningRate, actionLength } = JSON.parse(step);
    expect(actionLength).toBeLessThanOrEqual(2 * 5);
    expect(Math.abs(policyLoss - 100)).toBeLessThan(5);
    expect(learningRate).toBe(0.002);
  }
});
