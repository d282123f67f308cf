// How far it goes: a trajectory of 1,000 turns and 128k tokens, a step of 1,024 trajectories, and a run with 10,000 of them
// under way at once, with the size of their histories and the memory of the processes; and what commands take that read a run. A scripted policy: nothing takes time but what surrounds it. Linux
// only (/proc).
// node benchmarks/size.ts [--turns 1000] [--trajectories 1024] [--step-turns 3] [--in-flight 10000] [--made 1000,4000] [--json]
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openRunStore } from "../src/run/store/open-run-store.ts";
import { readTurns } from "../src/run/trajectory/turn-journal.ts";
import { type DurableRun, openDurableRun, type ScriptedRun } from "./durability/durable-run.ts";
import { type CpuSeconds, cpuBetween, cpuSeconds, peakMemory } from "./durability/processes.ts";
import { inFlight } from "./size/in-flight.ts";
import { type MadeCosts, madeCosts, madeLines } from "./size/made-costs.ts";

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "1000" },
    trajectories: { type: "string", default: "1024" },
    "step-turns": { type: "string", default: "3" },
    "in-flight": { type: "string", default: "10000" },
    made: { type: "string", default: "1000,4000" },
    json: { type: "boolean", default: false },
  },
});

/** The size of one history. */
interface HistorySize {
  type: string;
  events: number;
  bytes: number;
}

async function withRun<Result>(
  scripted: ScriptedRun,
  work: (run: DurableRun) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(`${tmpdir()}/everturn-size-`);
  try {
    const run = await openDurableRun(folder, scripted);
    try {
      return await work(run);
    } finally {
      await run.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The sizes of all histories, or of one workflow's, the first one first. */
async function historySizes({ supervised }: DurableRun, workflowId?: string): Promise<HistorySize[]> {
  const query = workflowId === undefined ? {} : { query: `WorkflowId = "${workflowId}"` };
  const sizes: (HistorySize & { startedAt: number })[] = [];
  for await (const { type, workflowId: id, runId, startTime } of supervised.client.workflow.list(query)) {
    const { historyLength, historySize = 0 } = await supervised.client.workflow
      .getHandle(id, runId)
      .describe();
    sizes.push({ type, events: historyLength, bytes: historySize, startedAt: startTime.getTime() });
  }
  return sizes.sort((a, b) => a.startedAt - b.startedAt).map(({ startedAt: _, ...size }) => size);
}

/** Seconds and CPU seconds of each part of a trajectory under way, told by its journal. */
async function parts(folder: string, turns: number, count: number) {
  const size = Math.floor(turns / count);
  const measured: { turns: number; seconds: number; cpu: CpuSeconds }[] = [];
  let before = { time: performance.now(), cpu: cpuSeconds() };
  for (let end = size; end <= turns; end += size) {
    while (!existsSync(join(folder, `turn-${end}.json`))) await sleep(5);
    const now = { time: performance.now(), cpu: cpuSeconds() };
    measured.push({
      turns: size,
      seconds: (now.time - before.time) / 1000,
      cpu: cpuBetween(before.cpu, now.cpu),
    });
    before = now;
  }
  return measured;
}

function perTurn(seconds: number, turns: number): string {
  return `${((1000 * seconds) / turns).toFixed(2)} ms`;
}

const total = (cpu: CpuSeconds) => Object.values(cpu).reduce((sum, seconds) => sum + seconds, 0);
const kibibytes = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;

/** Turns of 131 tokens: 131k tokens in a thousand of them. */
const thought = `${Array.from({ length: 29 }, (_, index) => `7${index % 10}`).join(" + ")} = `;

async function longTrajectory(turns: number) {
  return withRun({ turns: [turns, 1], seconds: 0, batchSize: 1, thought }, async (run) => {
    await run.trajectory(1); // everything is open then
    const working = run.trajectory(0);
    const place = run.places.at(-1);
    if (place === undefined) throw new Error("no trajectory was started");
    const { folder: paths } = run.supervised;
    const folder = paths.trajectory(place);
    const course = await parts(folder, turns, Math.min(10, turns));
    const seconds = await working;
    const memory = peakMemory();
    const histories = await historySizes(run, place.id);
    const tokens = (await readTurns(openRunStore(paths.root), place)).reduce(
      (sum, { generated }) => sum + Object.values(generated.tokens).reduce((all, count) => all + count, 0),
      0,
    );
    console.log(
      `a trajectory of ${turns} turns, ${tokens} tokens: ${seconds.toFixed(1)} s, ${histories.length} histories`,
    );
    for (const [index, { events, bytes }] of histories.entries()) {
      console.log(`  history ${index + 1}: ${events} events, ${kibibytes(bytes)}`);
    }
    const bytes = histories.reduce((sum, history) => sum + history.bytes, 0);
    console.log(`  ${(bytes / turns).toFixed(0)} bytes a turn, ${(bytes / tokens).toFixed(1)} a token`);
    for (const [index, part] of course.entries()) {
      console.log(
        `  turns ${index * part.turns + 1}–${(index + 1) * part.turns}: ${perTurn(part.seconds, part.turns)} a turn, ` +
          `CPU ${perTurn(total(part.cpu), part.turns)} (rollout ${perTurn(part.cpu.rollout ?? 0, part.turns)}, ` +
          `server ${perTurn(part.cpu.server ?? 0, part.turns)})`,
      );
    }
    console.log(`  peak memory, MiB: ${inMiB(memory)}`);
    return { turns, tokens, seconds, histories, parts: course, peakMiB: memory };
  });
}

async function wideStep(trajectories: number, turns: number) {
  return withRun({ turns: [turns], seconds: 0, batchSize: trajectories }, async (run) => {
    await run.trajectory(0);
    const before = cpuSeconds();
    const seconds = await run.step();
    const cpu = cpuBetween(before, cpuSeconds());
    const memory = peakMemory();
    const sizes = await historySizes(run);
    console.log(
      `a step of ${trajectories} trajectories of ${turns} turns: ${seconds.toFixed(1)} s, ` +
        `CPU ${perTurn(total(cpu), trajectories * turns)} a turn`,
    );
    const largest = [...new Set(sizes.map(({ type }) => type))].map((type) => {
      const same = sizes.filter((size) => size.type === type);
      const events = Math.max(...same.map((size) => size.events));
      return { type, count: same.length, events, bytes: Math.max(...same.map((size) => size.bytes)) };
    });
    for (const { type, count, events, bytes } of largest) {
      console.log(`  ${count} × ${type}: at most ${events} events, ${kibibytes(bytes)}`);
    }
    console.log(`  peak memory, MiB: ${inMiB(memory)}`);
    return { trajectories, turns, seconds, cpuSeconds: cpu, largest, peakMiB: memory };
  });
}

async function manyInFlight(count: number) {
  const flight = await inFlight(count);
  const { startSeconds, endSeconds, histories } = flight;
  console.log(
    `${flight.running} trajectories under way at once: all after ${startSeconds.toFixed(0)} s, ${flight.trained} trained on after ` +
      `${endSeconds.toFixed(0)} s more, CPU ${perTurn(total(flight.cpuSeconds), count)} each`,
  );
  for (const { events, bytes } of histories) console.log(`  training: ${events} events, ${kibibytes(bytes)}`);
  console.log(`  peak memory, MiB: ${inMiB(flight.peakMiB)}`);
  return flight;
}

function inMiB(memory: Record<string, number>): string {
  return Object.entries(memory)
    .map(([name, peak]) => `${name} ${peak.toFixed(0)}`)
    .join(", ");
}

const longTurns = Number(values.turns);
const wideTrajectories = Number(values.trajectories);
const trajectory = longTurns > 0 ? await longTrajectory(longTurns) : undefined;
const step =
  wideTrajectories > 0 ? await wideStep(wideTrajectories, Number(values["step-turns"])) : undefined;
const many = Number(values["in-flight"]);
const flight = many > 0 ? await manyInFlight(many) : undefined;
const made: MadeCosts[] = [];
for (const count of values.made.split(",").filter(Boolean)) made.push(await madeCosts(Number(count)));
for (const line of madeLines(made)) console.log(line);
if (values.json) console.log(JSON.stringify({ trajectory, step, flight, made }));
