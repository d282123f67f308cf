import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import nemoGym from "../../../plugins/environment-nemo-gym/index.ts";
import type { Task } from "../../../src/contracts/generated/task.ts";
import type { Turn } from "../../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { ToolCreation } from "../../../src/contracts/tool.ts";
import { nemoGymServer } from "../../support/nemo-gym-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const add = {
  type: "function",
  name: "add",
  description: "Add to the total.",
  parameters: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
};
const rows = [3, 4].map((target) => ({
  responses_create_params: { input: [{ role: "user", content: `Reach ${target}.` }], tools: [add] },
  start: 0,
  target,
  agent_ref: { name: "counter" },
}));
const never = new AbortController().signal;

async function started() {
  const server = await nemoGymServer();
  const path = join(temporaryFolder(), "rows.jsonl");
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const config: JsonObject = { url: server.url, rows: path, success: 1, verify: "repeat" };
  const tasks = await nemoGym.load(config);
  const [task] = tasks;
  if (task === undefined) throw new Error("there is no task");
  const creation: ToolCreation = {
    instance: "t",
    task,
    config,
    environment: {},
    signal: never,
    hold: () => {},
  };
  const instance = await nemoGym.create?.(creation);
  if (instance === undefined) throw new Error("there is no instance");
  type Instance = typeof instance;
  const call = (given: JsonObject, of: Instance = instance) => {
    const about = { instance: "t", key: "k", attempt: 1, config, isReplay: false, signal: never };
    return nemoGym.execute?.(given, { ...about, function: "add" }, of);
  };
  const saved = (of: Instance = instance) => Buffer.from(JSON.stringify(of));
  return { server, config, task, tasks, creation, instance, call, saved };
}

const turns: Turn[] = [
  {
    action: "call",
    toolCalls: [
      { tool: "add", arguments: { amount: 3 }, observation: '{"total":3}', valid: true, attempts: 1 },
    ],
  },
];

function asked(task: Task, config: JsonObject, snapshot?: Uint8Array) {
  const snapshots = snapshot === undefined ? {} : { "nemo-gym": snapshot };
  return { task, turns, outcome: "answered" as const, answer: "Done.", config, snapshots, signal: never };
}

test("rows that are cut or lack their parameters are refused with their places", async () => {
  const path = join(temporaryFolder(), "rows.jsonl");
  writeFileSync(path, '{"responses_create_params": {}}\n{"input": 1}\n{"responses_create_params": {');
  await expect(nemoGym.load({ rows: path, url: "http://127.0.0.1:1" })).rejects.toThrow(
    /rows\.jsonl:2:1: .*responses_create_params.*rows\.jsonl:3:\d+: not valid JSON/s,
  );
});

test("rows become tasks, and their tools functions", async () => {
  const { tasks, config } = await started();
  expect(tasks).toMatchObject([
    { data_source: "counter", prompt: [{ role: "user", content: "Reach 3." }], extra_info: { index: 0 } },
    { data_source: "counter", prompt: [{ role: "user", content: "Reach 4." }] },
  ]);
  expect(await nemoGym.functions?.(config)).toEqual({
    add: { description: "Add to the total.", parameters: add.parameters },
  });
});

test("a session: its cookie goes along, its calls are verified with the row, and it is closed", async () => {
  const { server, config, task, instance, call, saved } = await started();
  expect(await call({ amount: 3 })).toEqual({ text: '{"total":3}' });
  expect(await call({ amount: "many" })).toMatchObject({ invalid: expect.stringContaining("integer") });
  expect(await nemoGym.score(asked(task, config, saved()))).toEqual({
    reward: 1,
    success: true,
    metrics: {},
  });
  const verified = server.asked.find(({ path }) => path === "/verify");
  expect(verified?.body).toMatchObject({
    target: 3,
    responses_create_params: rows[0]?.responses_create_params,
    response: {
      output: [
        { type: "function_call", name: "add", arguments: '{"amount":3}' },
        { type: "function_call_output", output: '{"total":3}' },
        { type: "message", content: [{ text: "Done." }] },
      ],
    },
  });
  await nemoGym.release?.(instance);
  expect([server.sessions(), server.closed]).toEqual([0, ["s-2", "s-1"]]);
});

test("a server that lost the session does not score an empty one", async () => {
  const { server, config, task, call, saved, creation, instance } = await started();
  await call({ amount: 1 });
  server.restart();
  const again = await nemoGym.restore?.(saved(), creation);
  if (again === undefined) throw new Error("there is no instance");
  expect(await call({ amount: 2 }, again)).toEqual({ text: '{"total":3}' });
  server.restart();
  expect(await nemoGym.score(asked(task, config, saved(again)))).toMatchObject({ reward: 1 });
  server.faults.drift = 1;
  await expect(nemoGym.restore?.(saved(), creation)).rejects.toThrow("call 1 of a repeated session");
  expect(instance.calls).toHaveLength(1);
});

test("masked samples and failures are no rewards", async () => {
  const { server, config, task } = await started();
  server.faults.verdict = { mask_sample: true, failure_reason: "no simulator" };
  expect(await nemoGym.score(asked(task, config))).toEqual({
    missing: expect.stringContaining("no simulator"),
  });
  server.faults.verdict = { failure_kind: "infrastructure" };
  expect(await nemoGym.score(asked(task, config))).toEqual({
    missing: expect.stringContaining("infrastructure"),
  });
  server.faults.verdict = { reward: null };
  expect(await nemoGym.score(asked(task, config))).toEqual({ missing: expect.stringContaining("no reward") });
  server.faults.verdict = { reward_components: { speed: 0.5, note: "fast" } };
  expect(await nemoGym.score(asked(task, config))).toMatchObject({ reward: 0, metrics: { speed: 0.5 } });
});
