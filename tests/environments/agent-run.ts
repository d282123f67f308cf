import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { namesIn } from "../../src/base/files/names-in.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { call } from "./call.ts";

/**
 * Makes a run of an agent that asks the policy with NeMo Gym's own client, in the Responses API, and reads the answers
 * with NeMo Gym's own types. Throws if a trajectory is not what the policy says.
 */
export async function agentRun(folder: string, python: string, rows: readonly JsonObject[]): Promise<void> {
  mkdirSync(folder);
  const data = join(folder, "tasks.jsonl");
  const tasks = rows.map((row) => ({
    data_source: "nemo-gym",
    prompt: [{ role: "user", content: "?" }],
    reward_model: { ground_truth: "3" },
    extra_info: { nemo_gym: row },
  }));
  writeFileSync(data, tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
  const dataset = { plugin: "dataset-jsonl", config: { path: data } };
  const agent = join(import.meta.dirname, "nemo_gym_agent.py");
  const conversations = [[call("add", { amount: 1 }), call("add", { amount: 2 }), "The total is 3."]];
  const pipeline = writeScriptedPipeline(folder, conversations, {
    tools: [],
    dataset: { train: dataset, validation: dataset },
    loop: { plugin: "loop-agent", config: { command: [python, agent] } },
    rollout: { batchSize: 4, groupSize: 2, maxActionTokens: 200 },
    evaluation: { every: 0, tasks: 1 },
  });
  const runs = join(folder, "runs");
  const { code, stderr } = await everturn("run", pipeline, "--runs", runs, "--json");
  if (code !== 0) throw new Error(`the run of NeMo Gym's client failed: ${stderr.slice(-3000)}`);
  const [id = ""] = await namesIn(runs);
  const records = await stageRecords(runFolder(runs, id).root, "step-0001");
  const expected = [
    ["add", { amount: 1 }, '{"total": 1}'],
    ["add", { amount: 2 }, '{"total": 3}'],
  ];
  for (const { turns, outcome, failure } of records) {
    const made = turns.flatMap(({ toolCalls }) =>
      toolCalls.map(({ tool, arguments: given, observation }) => [tool, given, observation]),
    );
    if (outcome !== "answered" || !isDeepStrictEqual(made, expected))
      throw new Error(`NeMo Gym's client: ${outcome}, ${failure ?? JSON.stringify(made)}`);
  }
  if (records.length !== 4) throw new Error(`NeMo Gym's client made ${records.length} of 4 trajectories`);
}
