import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { toolFunctions } from "../../src/plugin/registry/tool-functions.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readTrajectories } from "../../src/run/trajectory/trajectory-files.ts";
import { everturn, lastLine } from "../../tests/support/command.ts";
import { writeScriptedPipeline } from "../../tests/support/scripted-pipeline.ts";
import { answer, type Trial } from "./trials.ts";

/** Trajectories of each task. */
const groupSize = 4;

/** Runs one pipeline with all of these packages, on a Temporal server that it starts; how many trajectories each was in. */
export async function trajectoriesWith(
  tried: ReadonlyMap<string, Trial>,
  folder: string,
): Promise<Map<string, number>> {
  const of = (kind: string) => [...tried].filter(([name]) => name.startsWith(kind));
  const tools = of("tool-").filter(([, { call }]) => call !== undefined);
  const rewards = of("reward-").filter(([name]) => name !== "reward-exact-match");
  const own = rewards.map(([name, { groundTruth = "42" }]) => ({ name, groundTruth }));
  const columns = Object.assign({}, ...[...tried.values()].map(({ task }) => task));
  const tasks = [...own, { name: "reward-exact-match", groundTruth: "42" }].map(({ name, groundTruth }) => ({
    data_source: name,
    prompt: [{ role: "user", content: "What is 6 times 7?" }],
    reward_model: { ground_truth: groundTruth },
    ...columns,
  }));
  const path = join(folder, "tasks.jsonl");
  writeFileSync(path, tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
  const dataset = { plugin: "dataset-jsonl", config: { path } };
  const last = (call: Trial["call"]) => (call?.name === "finish" ? 1 : 0); // it ends the trajectory
  const calls = tools.map(([, { call }]) => call).sort((one, other) => last(one) - last(other));
  const actions = calls.map((call) => `<tool_call>${JSON.stringify(call)}</tool_call>`);
  const pipeline = writeScriptedPipeline(folder, [[...actions, answer]], {
    dataset: { train: dataset, validation: dataset },
    loop: { plugin: "loop-tool-agent", tools: functionsOf(calls), config: { maxTurns: 1000 } },
    tools: tools.map(([plugin, { config = {}, functions }]) =>
      defined({
        plugin,
        config,
        functions,
      }),
    ),
    reward: [
      { plugin: "reward-exact-match", config: { extract: "last-number" } },
      ...rewards.map(
        ([plugin, { config = {} }]): JsonObject => ({ plugin, config, weight: 0, dataSources: [plugin] }),
      ),
    ],
    rollout: { batchSize: tasks.length * groupSize, groupSize, maxActionTokens: 400, concurrency: 8 },
    evaluation: { every: 0, tasks: 1 },
  });
  const runs = join(folder, "runs");
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json");
  if (code !== 0)
    throw new Error(`the run of the trials failed:\n${stderr.slice(-4000)}\n${stdout.slice(-2000)}`);
  return counted(runs, lastLine<{ run: string }>(stdout).run);
}

/** What is called, also of tools that are for loops. */
function functionsOf(calls: readonly Trial["call"][]): string[] {
  return calls.flatMap((call) => (call === undefined ? [] : [call.name]));
}

/** In how many trajectories of a run's store each tool answered a valid call, and each reward told its score. */
async function counted(runs: string, id: string): Promise<Map<string, number>> {
  const run = await openRunFolder(runs, id);
  const reader = trajectoryReader(run);
  const counts = new Map<string, number>();
  for (const record of await readTrajectories(reader, await reader.list()))
    for (const name of takingPart(run.plan, record)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function takingPart({ tools, rewards }: Plan, { outcome, turns, metrics }: Trajectory): string[] {
  const called = new Set(
    turns.flatMap(({ toolCalls }) => toolCalls.filter(({ valid }) => valid).map(({ tool }) => tool)),
  );
  const answering = tools.filter((tool) => toolFunctions(tool).some(({ name }) => called.has(name)));
  const scoring = rewards.filter(({ part }) =>
    part === undefined ? outcome !== "left-out" : metrics?.[part] !== undefined,
  );
  return [...answering, ...scoring].map(({ name }) => name);
}
