// Trajectories per second of a tiny AI SDK agent in each mode of loop-agent, and of loop-tool-agent, through Temporal with a
// scripted policy. First: npm ci --prefix benchmarks/agents
// node benchmarks/agents.ts [--trajectories 64] [--turns 3] [--seconds 0] [--rounds 3] [--loops process,pool,thread,tool-agent] [--json]
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { superviseRun } from "../src/control/supervision/supervised-run.ts";
import { loadPlan } from "../src/plan/pipeline/load-plan.ts";
import { runSettings } from "../src/plan/pipeline/resolve/run-settings.ts";
import { createRunFolder } from "../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../src/run/folder/open-runs.ts";
import { processesWith } from "../tests/support/processes.ts";
import { initializeVersion } from "../tests/support/versions.ts";
import { trajectoryInput } from "../workflows/trajectory-input.ts";
import { median } from "./shapes.ts";

const { values } = parseArgs({
  options: {
    trajectories: { type: "string", default: "64" },
    turns: { type: "string", default: "3" },
    seconds: { type: "string", default: "0" },
    rounds: { type: "string", default: "3" },
    loops: { type: "string", default: "process,pool,thread,tool-agent" },
    json: { type: "boolean", default: false },
  },
});
const count = Number(values.trajectories);
const turns = Number(values.turns);
const seconds = Number(values.seconds);
const loops = values.loops.split(",");

/** The least share of loop-tool-agent's trajectories per second that agents in threads should reach. */
const bar = 0.7;

const folder = await mkdtemp(join(tmpdir(), "everturn-agents-"));
const tasks = join(folder, "tasks.jsonl");
const rows = loops.flatMap((loop) =>
  Array.from({ length: count }, (_, index) => ({
    data_source: "scripted",
    prompt: [{ role: "user", content: `Task ${index}.` }],
    reward_model: { ground_truth: "1" },
    agent_name: loop,
  })),
);
await writeFile(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const call = '<tool_call>{"name":"calculator","arguments":{"expression":"12 + 34 * 5"}}</tool_call>';
const conversation = [...Array.from({ length: turns - 1 }, () => call), "1"];
const plan = await loadPlan(join(import.meta.dirname, "agents", "pipeline.yaml"), {
  overrides: [
    `policy.config.conversations=${JSON.stringify([conversation])}`,
    `policy.config.seconds=${seconds}`,
    `rollout.batchSize=${count}`,
    `rollout.concurrency=${count}`,
    `dataset.train.config.path=${tasks}`,
    `dataset.validation.config.path=${tasks}`,
  ],
});
const run = await createRunFolder(plan, { runs: folder });
await initializeVersion(await openRunFolder(folder, run), 0);
const supervised = await superviseRun({ runs: folder, run, temporal: undefined });
const { client, queues, failed } = supervised;
const generation = {
  run,
  settings: runSettings(plan),
  queues,
  quickTurns: seconds < 2, // as workflows/training.ts has it
  policyVersion: 0,
  source: "training" as const,
};

/** CPU seconds of the run's server and workers so far. */
function cpuSeconds(): number {
  const ticks = [...processesWith(folder).keys()].map((pid) => {
    const [, rest = ""] = /\) (.*)$/.exec(readFileSync(`/proc/${pid}/stat`, "utf8").trim()) ?? [];
    const [user = 0, system = 0] = rest.split(" ").slice(11, 13).map(Number);
    return user + system;
  });
  return ticks.reduce((sum, one) => sum + one, 0) / 100;
}

/** Runs one trajectory of each task of a loop, all at once. Returns the seconds from the first start to the last end. */
async function measured(loop: string, round: number): Promise<number> {
  const first = loops.indexOf(loop) * count;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const task = `task-${String(first + index).padStart(5, "0")}`;
      const place = { stage: `round-${round}`, step: 0, task, sample: 0 };
      const input: TrajectoryInput = trajectoryInput(place, generation);
      const options = { workflowId: input.place.id, taskQueue: queues.orchestration, args: [input] };
      const working: Promise<TrajectoryResult> = client.workflow.execute("trajectory", options);
      const result = await Promise.race([working, failed]);
      if (result.outcome !== "answered" || result.reward !== 1)
        throw new Error(`${loop}: a trajectory ended as ${result.outcome}: ${result.failure}`);
    }),
  );
  return (performance.now() - begun) / 1000;
}

const times = new Map(loops.map((loop): [string, number[]] => [loop, []]));
const cpu = new Map(loops.map((loop): [string, number[]] => [loop, []]));
try {
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const [loop, taken] of times) {
      const before = cpuSeconds();
      const took = await measured(loop, round);
      const used = cpuSeconds() - before;
      if (round > 0) {
        taken.push(took); // the first round opens everything
        cpu.get(loop)?.push(used);
      }
      if (!values.json)
        console.log(
          `round ${round}, ${loop}: ${took.toFixed(2)} s, ${used.toFixed(2)} s of CPU time, load ${loadavg()[0]?.toFixed(1)}`,
        );
    }
  }
} finally {
  await supervised.close();
  await rm(folder, { recursive: true, force: true });
}

const rates = Object.fromEntries(
  [...times].map(([loop, taken]) => [
    loop,
    {
      best: count / Math.min(...taken),
      median: count / median(taken),
      cpuSeconds: Math.min(...(cpu.get(loop) ?? [])),
    },
  ]),
);
const [threads, others] = [rates.thread, rates["tool-agent"]];
const ratio =
  threads === undefined || others === undefined
    ? undefined
    : { best: threads.best / others.best, median: threads.median / others.median };
const load = loadavg()[0];
if (values.json) {
  console.log(
    JSON.stringify({
      trajectories: count,
      turns,
      seconds,
      cores: availableParallelism(),
      rates,
      ratio,
      bar,
      load,
    }),
  );
} else {
  for (const [loop, rate] of Object.entries(rates))
    console.log(
      `${loop.padEnd(10)} ${rate.best.toFixed(1)} trajectories a second at best, ${rate.median.toFixed(1)} in the median, ${rate.cpuSeconds.toFixed(1)} s of CPU time`,
    );
  if (ratio !== undefined)
    console.log(
      `thread / tool-agent: ${ratio.best.toFixed(2)}, median ${ratio.median.toFixed(2)}; bar ${bar}`,
    );
}
