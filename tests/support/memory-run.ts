import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Segment } from "../../src/contracts/generated/segment.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import type { ResolvedTool } from "../../src/contracts/plan.ts";
import type { TrajectoryPlace } from "../../src/contracts/trajectory.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { callKey } from "../../src/run/store/keys.ts";
import type { ToolWorker } from "../../src/work/workers/tool-worker.ts";
import { samplePlan } from "./sample-plan.ts";
import { writeTurn } from "./written-turn.ts";

/** Its instances are what happened to them, in order. The first one of trajectory "unlucky" can't be made. */
const source = (log: string) => `import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const unlucky = [];
export default {
  create: ({ instance }) => {
    if (instance.includes("unlucky") && unlucky.push(1) === 1) throw new Error("no room");
    return ["created for " + instance];
  },
  execute: async ({ expression }, { isReplay }, state) => {
    if (expression === "exit") process.exit(1);
    const [, gate] = /^while (.*)/.exec(expression) ?? [];
    if (gate !== undefined) appendFileSync(gate, "it waits");
    while (gate !== undefined && existsSync(gate)) await sleep(20);
    if (expression !== "") state.push((isReplay ? "again " : "") + expression);
    return { text: JSON.stringify(state) };
  },
  release: (state) => appendFileSync(${JSON.stringify(log)}, JSON.stringify(state) + "\\n"),
  snapshot: (state) => Buffer.from(JSON.stringify(state)),
  restore: (bytes) => [...JSON.parse(Buffer.from(bytes).toString()), "restored"],
};`;

/** A run whose tools remember what they were asked, one for each way to recover; each is named by it. */
export async function createMemoryRun(runs: string) {
  const folder = join(runs, "tool-memory");
  const entry = join(folder, "index.ts");
  const log = join(runs, "released.log");
  mkdirSync(folder);
  writeFileSync(entry, source(log));
  const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
  const [calculator] = plan.tools;
  const block = calculator?.manifest.tool;
  if (calculator === undefined || block === undefined) throw new Error("the sample plan has no tool");
  const toolOf = (name: string, recovery: NonNullable<typeof block.recovery>): ResolvedTool => {
    const manifest = { ...calculator.manifest, tool: { ...block, name, stateful: true, recovery } };
    return { ...calculator, entry, manifest, timeout: 60_000 };
  };
  const tools = (["fail", "replay", "snapshot"] as const).map((recovery) => toolOf(recovery, recovery));
  const run = await createRunFolder({ ...plan, tools }, { runs });
  return {
    run,
    plan,
    toolOf,
    /** The states of instances of trajectory `name` when they were released. */
    released: (name: string): string[][] => {
      const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      return lines.map((line) => JSON.parse(line)).filter(([created]) => created === `created for ${name}`);
    },
  };
}

const asked: Segment = { previous: null, origin: "prompt", text: "go on", tokens: [1] };
const said: Segment = { ...asked, origin: "action", logprobs: [0], policyVersion: 1 };

/** What is asked of a worker. */
export interface MemoryCall {
  name: string;
  tool: string;
  turn: number;
  /** The queue of the worker that did not take the call for ten seconds. */
  silent?: string | undefined;
}

/** Where trajectory `name` stands. */
export function placeOf(run: string, name: string): TrajectoryPlace {
  return { id: name, run, stage: "step-0001", step: 1, task: name, sample: 0 };
}

export const memoryTask: Task = { data_source: "test", prompt: [], reward_model: { ground_truth: "" } };

/** A call as its activity makes it, with what is recorded of it and of its turn; the instance's state after it. */
export async function callMemory(
  worker: ToolWorker,
  [runs, run]: readonly [string, string],
  { name, tool: toolName, turn, silent: queue }: MemoryCall,
): Promise<string[]> {
  const { signal } = new AbortController();
  const tool = await worker.tool(toolName);
  const parameters: JsonObject = { expression: `turn ${turn}` };
  const place = placeOf(run, name);
  const { store } = await openRunFolder(runs, run);
  await writeTurn(store, place, turn, [asked, said], { callsBefore: turn === 1 ? 0 : 1 });
  const silent = queue === undefined ? undefined : { queue, ms: 10_000 };
  const needed = { place, task: memoryTask, tool, turn, call: 0, continues: turn > 1, silent, signal };
  const execution = {
    instance: name,
    function: "",
    key: `${name}/${turn}/0`,
    attempt: 1,
    config: {},
    signal,
  };
  const { answer, snapshot } = await worker.instances.use(needed, async (state) => {
    return tool.plugin.execute(parameters, { ...execution, isReplay: false }, state);
  });
  const recorded = { tool: toolName, arguments: parameters, observation: answer.text, valid: true };
  const snapped = snapshot === undefined ? {} : { snapshot };
  const key = callKey(place, turn, 0);
  await store.record(key, { ...recorded, reward: 0, attempts: 1, seconds: 0, ...snapped });
  return JSON.parse(answer.text);
}
