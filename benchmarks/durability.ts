// What durability costs: the same scripted policy, tool and reward through Temporal, every turn journaled, and in a
// bare loop in memory. Linux only (/proc).
// node benchmarks/durability.ts [--rounds 2] [--turns 40] [--at-once 1,16,64] [--seconds 0,0.1,1]
//   [--trajectories 16,64,256,1024] [--lengths 1,10,100,1000] [--json]
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { type BareLoop, openBareLoop } from "./durability/bare-loop.ts";
import { type DurableRun, openDurableRun, type ScriptedRun } from "./durability/durable-run.ts";
import { type CpuSeconds, cpuBetween, cpuSeconds } from "./durability/processes.ts";
import { tasksOf } from "./durability/scripted-plan.ts";
import type { TurnSpread } from "./durability/turn-spread.ts";
import { median } from "./shapes.ts";

/** The bar on the overhead at one second a generation. */
const bar = 0.05;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "2" },
    turns: { type: "string", default: "40" },
    "at-once": { type: "string", default: "1,16,64" },
    seconds: { type: "string", default: "0,0.1,1" },
    trajectories: { type: "string", default: "16,64,256,1024" },
    lengths: { type: "string", default: "1,10,100,1000" },
    json: { type: "boolean", default: false },
  },
});
const numbers = (text: string) => text.split(",").filter(Boolean).map(Number);
const turns = Number(values.turns);
const rounds = Number(values.rounds);

/** The turns of each trajectory in a step that grows. */
const stepTurns = 4;

/** Seconds and CPU seconds of one measurement. */
interface Measured {
  seconds: number;
  cpu: CpuSeconds;
}

async function measured(work: () => Promise<number>): Promise<Measured> {
  const before = cpuSeconds();
  const seconds = await work();
  return { seconds, cpu: cpuBetween(before, cpuSeconds()) };
}

async function bareSeconds(bare: BareLoop, count: number, conversation: number): Promise<number> {
  const started = performance.now();
  await Promise.all(tasksOf(count).map((task) => bare.run(task, conversation)));
  return (performance.now() - started) / 1000;
}

async function withRun<Result>(
  scripted: ScriptedRun,
  work: (durable: DurableRun, bare: BareLoop) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(`${tmpdir()}/everturn-durability-`);
  try {
    const durable = await openDurableRun(folder, scripted);
    try {
      const bare = await openBareLoop(durable.plan, durable.policy);
      const result = await work(durable, bare);
      await bare.close();
      return result;
    } finally {
      await durable.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const summary = (all: readonly number[]) => ({ min: Math.min(...all), median: median(all) });
const rounded = (value: number) => Number(value.toPrecision(4));

/** One line of the comparison: both sides in turns. */
async function compare(durable: DurableRun, bare: BareLoop, seconds: number, atOnce: number) {
  const ours: Measured[] = [];
  const theirs: number[] = [];
  const late: TurnSpread[][] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await measured(() => durable.evaluate(atOnce)));
    late.push(await durable.lateTurns());
    theirs.push(await bareSeconds(bare, atOnce, 0));
  }
  const [own, plain] = [summary(ours.map((one) => one.seconds)), summary(theirs)];
  const overhead = { min: own.min / plain.min - 1, median: own.median / plain.median - 1 };
  const fastest = ours.find((one) => one.seconds === own.min)?.cpu ?? {};
  const turnsPerSecond = (atOnce * turns) / own.min;
  console.log(
    `${seconds} s a generation, ${atOnce} at once: ${own.min.toFixed(3)} s, bare ${plain.min.toFixed(3)} s: ` +
      `${(100 * overhead.min).toFixed(1)} % (medians ${(100 * overhead.median).toFixed(1)} %); ` +
      `${turnsPerSecond.toFixed(1)} turns a second; CPU ${shares(fastest, own.min)}`,
  );
  for (const spread of late) console.log(`  late by turn, ms: ${spreadText(spread)}`);
  return { seconds, atOnce, late, ours: own, bare: plain, overhead, turnsPerSecond, cpuSeconds: fastest };
}

/** The median of each turn and its most. */
function spreadText(spread: TurnSpread[]): string {
  return spread
    .map(({ turn, median: usual, most }) => `${turn}: ${usual.toFixed(0)}/${most.toFixed(0)}`)
    .join(", ");
}

/** The share of a core that each process took. */
function shares(cpu: CpuSeconds, seconds: number): string {
  return Object.entries(cpu)
    .map(([name, used]) => `${name} ${((100 * used) / seconds).toFixed(0)} %`)
    .join(", ");
}

async function comparisons() {
  const atOnce = numbers(values["at-once"]);
  const batchSize = Math.max(...atOnce);
  const lines: Awaited<ReturnType<typeof compare>>[] = [];
  for (const seconds of numbers(values.seconds)) {
    await withRun({ turns: [turns, 1], seconds, batchSize }, async (durable, bare) => {
      await durable.trajectory(1); // everything is open then
      for (const count of atOnce) lines.push(await compare(durable, bare, seconds, count));
    });
  }
  return lines;
}

/** Turns a second at 0 ms as a step grows. */
async function growingSteps() {
  const lines: Record<string, unknown>[] = [];
  for (const batchSize of numbers(values.trajectories)) {
    await withRun({ turns: [stepTurns], seconds: 0, batchSize }, async (durable) => {
      await durable.trajectory(0);
      const { seconds, cpu } = await measured(() => durable.step());
      const count = batchSize * stepTurns;
      const rate = count / seconds;
      console.log(
        `a step of ${batchSize} trajectories of ${stepTurns} turns: ${seconds.toFixed(2)} s, ${rate.toFixed(1)} turns a second; ` +
          `CPU ms a turn: ${perTurn(cpu, count)}`,
      );
      lines.push({ trajectories: batchSize, seconds, turnsPerSecond: rate, cpuSeconds: cpu });
    });
  }
  return lines;
}

/** Milliseconds a turn at 0 ms as a trajectory grows. */
async function growingTrajectories() {
  const lengths = numbers(values.lengths);
  if (lengths.length === 0) return [];
  return withRun({ turns: lengths, seconds: 0, batchSize: 1 }, async (durable, bare) => {
    const lines: Record<string, unknown>[] = [];
    await durable.trajectory(0);
    for (const [conversation, length] of lengths.entries()) {
      const { seconds, cpu } = await measured(() => durable.trajectory(conversation));
      const plain = await bareSeconds(bare, 1, conversation);
      console.log(
        `a trajectory of ${length} turns: ${seconds.toFixed(3)} s, ${((1000 * seconds) / length).toFixed(2)} ms a turn ` +
          `(bare ${((1000 * plain) / length).toFixed(2)}); CPU ms a turn: ${perTurn(cpu, length)}`,
      );
      lines.push({ turns: length, seconds, bareSeconds: plain, cpuSeconds: cpu });
    }
    return lines;
  });
}

function perTurn(cpu: CpuSeconds, count: number): string {
  return Object.entries(cpu)
    .map(([name, used]) => `${name} ${((1000 * used) / count).toFixed(2)}`)
    .join(", ");
}

const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): the numbers will not hold`);
const compared = await comparisons();
const steps = await growingSteps();
const trajectories = await growingTrajectories();
const slowest = compared.filter((line) => line.seconds === 1).map((line) => line.overhead.min);
if (slowest.length > 0) {
  const worst = Math.max(...slowest);
  console.log(
    `at 1 s a generation durability costs ${(100 * worst).toFixed(1)} % at most; the bar is ${100 * bar} %`,
  );
}
if (values.json) {
  const line = { compared, steps, trajectories };
  console.log(JSON.stringify(line, (_, value) => (typeof value === "number" ? rounded(value) : value)));
}
