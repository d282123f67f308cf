// A script of somebody's own, as docs/library.md shows it: trains, is interrupted, goes on, evaluates, reads. What it found is
// its one line of output. `node train-and-read.ts <pipeline> <folder of runs>`
import { createRun, EverturnError, loadPipeline, openRun, type RunEvent } from "everturn";
import { processesWith } from "../support/processes.ts";

const [pipelineFile = "", runs = ""] = process.argv.slice(2);
const listenersBefore = listeners();

const invalid = await loadPipeline(pipelineFile, { set: { stepz: 1 } }).catch(codeOf);
const pipeline = await loadPipeline(pipelineFile, {
  set: {
    steps: 3,
    "policy.config.seconds": 0.3,
    "tools.0": { plugin: "tool-calculator" },
    rollout: { batchSize: 4, maxActionTokens: 200, concurrency: 2 },
  },
});
const run = await createRun(pipeline, { runs });

const stop = new AbortController();
const before: RunEvent[] = [];
const interrupted = await run
  .train({
    signal: stop.signal,
    onEvent: (event) => {
      if (stop.signal.aborted) throw new Error(`told after the end: ${event.type}`);
      before.push(event);
      if (event.type === "step") stop.abort();
    },
  })
  .catch(codeOf);
const left = processesOf(runs);

const events: RunEvent[] = [];
const result = await run.train({ onEvent: (event) => void events.push(event) });
const evaluation = await run.evaluate({ limit: 2, tools: false });
const opened = await openRun(run.folder);
const [first] = await collected(
  opened.trajectories({ stage: "step-0001", tool: "calculator", maxReward: 1 }),
);
const whole = await opened.trajectory(first?.id ?? "");
const { entries, findings } = await opened.ledger();
const found = {
  invalid,
  interrupted,
  left,
  told: [...new Set(before.map(({ type }) => type))].filter((type) => type !== "waits").sort(), // a busy machine may report waits
  toldLater: [...new Set(events.map(({ type }) => type))].sort(),
  phases: [...new Set(before.flatMap((event) => (event.type === "progress" ? [event.phase.text] : [])))],
  evaluated: events.flatMap((event) => (event.type === "evaluation" ? [event.record.name] : [])),
  result,
  evaluation,
  steps: (await opened.steps()).map(({ step }) => step),
  trained: entries.filter(({ state }) => state === "trained").length,
  findings,
  first,
  turns: whole.turns.length,
  none: await collected(opened.trajectories({ task: "none" })),
  unknown: await opened.trajectory("nope").catch(codeOf),
  versions: (await opened.versions()).map(({ version, state }) => `${version} ${state}`),
  policy: (await opened.policyFolder()).startsWith(run.folder),
  missing: await openRun("nope", { runs }).catch(codeOf),
  listeners: listeners() === listenersBefore,
  processes: processesOf(runs),
};
process.stdout.write(JSON.stringify(found));

function codeOf(error: unknown): string {
  return error instanceof EverturnError ? error.code : String(error);
}

function processesOf(folder: string): string[] {
  return [...processesWith(folder)].filter(([pid]) => pid !== process.pid).map(([, command]) => command);
}

function listeners(): string {
  return process
    .eventNames()
    .map((name) => `${String(name)} ${process.listenerCount(name)}`)
    .sort()
    .join();
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
