// A step of reinforcement learning with a tool, whole and by phase, side by side with TRL's GRPOTrainer: the same
// policy, tasks and batch. The two sides alternate, each taking some steps in a row. Ours goes through Temporal, with
// every turn journaled; theirs does not.
// node benchmarks/main-job.ts --python venv/bin/python [--model tiny|smollm2] [--rounds 6] [--steps 4] [--batch 64]
//   [--tasks FILE] [--action-tokens 40] [--warm-steps 200] [--threads 2] [--set trainer.config.epochs=1]… [--json]

import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { defined } from "../src/base/records/defined.ts";
import { type Engines, openEngines } from "./main-job/engines.ts";
import { type JobOptions, planJob } from "./main-job/job.ts";
import { type OwnRun, openOwnRun, type StepTimes } from "./main-job/own-run.ts";
import { type Peer, type PeerStep, startPeer } from "./main-job/peer.ts";
import { median } from "./shapes.ts";

/** The bars on our rate over TRL's. */
const bars = { tiny: 0.9, smollm2: 4 };

const { values } = parseArgs({
  options: {
    python: { type: "string", default: process.env.EVERTURN_BENCHMARK_PYTHON ?? "python3" },
    model: { type: "string", default: "tiny" },
    rounds: { type: "string", default: "6" },
    steps: { type: "string", default: "4" },
    batch: { type: "string", default: "64" },
    tasks: { type: "string" },
    "action-tokens": { type: "string", default: "40" },
    "warm-steps": { type: "string", default: "200" },
    threads: { type: "string", default: "2" },
    set: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
  },
});

const options: JobOptions = defined({
  model: values.model === "smollm2" ? "smollm2" : "tiny",
  batchSize: Number(values.batch),
  groupSize: 8,
  actionTokens: Number(values["action-tokens"]),
  warmSteps: Number(values["warm-steps"]),
  threads: Number(values.threads),
  overrides: values.set,
  tasks: values.tasks,
});

/** Seconds of a step, a mean over a round. */
interface Round extends StepTimes {
  generation: number;
  training: number;
  theirs: PeerStep;
  /** TRL's last step of the round: the step whose generation and training we measure alone. */
  theirsAlone: PeerStep;
}

/** Milliseconds for the work that a step leaves for later, such as moving its records into one file. */
const settling = 1500;

/** Measures rounds. In each, both sides take `steps` steps in a row, ours first. */
async function rounds(folder: string, count: number, steps: number): Promise<Round[]> {
  const plan = await planJob(options, folder);
  const own = await openOwnRun(plan, join(folder, "runs"));
  try {
    const tasks = await own.tasks(count * steps);
    const { python } = values;
    const peer = await startPeer({
      python,
      folder,
      plan,
      options,
      policy: own.first,
      tasks,
      steps: count * steps,
    });
    const engines = await openEngines(own);
    try {
      const measured: Round[] = [];
      for (let round = 0; round < count; round++) {
        measured.push(await oneRound(own, engines, peer, steps));
        describe(round, measured[round]);
      }
      return measured;
    } finally {
      await engines.close();
      await peer.close();
    }
  } finally {
    await own.close();
  }
}

async function oneRound(own: OwnRun, engines: Engines, peer: Peer, steps: number): Promise<Round> {
  const { last, policyVersion, mean } = await own.take(steps);
  await sleep(settling); // otherwise that work would slow the peer down
  const theirs = await peer.take(steps);
  const generation = await engines.generate(last, policyVersion);
  const training = await engines.train(last);
  return { ...mean, generation, training, theirs: theirs.mean, theirsAlone: theirs.last };
}

function describe(round: number, measured: Round | undefined): void {
  if (measured === undefined) return;
  const { theirs } = measured;
  const seconds = (value: number) => value.toFixed(2);
  console.log(
    `round ${round + 1}: ${seconds(measured.total)} s (rollout ${seconds(measured.rollout)}, train ${seconds(measured.train)}, ` +
      `publish ${seconds(measured.publish)}, rest ${seconds(measured.rest)}; ` +
      `alone: generation ${seconds(measured.generation)}, training ${seconds(measured.training)}), ` +
      `${measured.actionTokens.toFixed(0)} action tokens, ${measured.turns.toFixed(1)} turns, reward ${measured.reward.toFixed(2)} | ` +
      `TRL ${seconds(theirs.total)} s (rollout ${seconds(theirs.rollout)} of it generation ${seconds(theirs.generation)}, ` +
      `train ${seconds(theirs.train)}), ${theirs.completionTokens.toFixed(0)} completion tokens, reward ${theirs.reward.toFixed(2)}`,
  );
}

function summary(measured: readonly number[]) {
  return { min: Math.min(...measured), median: median(measured) };
}

/** Of both sides: seconds, and `ours` over `theirs` (for a rate: theirs over ours), of minima and of medians. */
function compared(ours: readonly number[], theirs: readonly number[], isRate: boolean) {
  const [own, peer] = [summary(ours), summary(theirs)];
  const ratio = (a: number, b: number) => (isRate ? b / a : a / b);
  return {
    ours: own,
    theirs: peer,
    ratio: { min: ratio(own.min, peer.min), median: ratio(own.median, peer.median) },
  };
}

// PyTorch's threads wait for each other: on cores that others use as well its step takes ten times as long, ours twice.
const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): the ratios will not hold`);
const root = await mkdtemp(join(tmpdir(), "everturn-main-job-"));
try {
  const [, ...measured] = await rounds(root, Number(values.rounds) + 1, Number(values.steps)); // the first warms both sides up
  const of = (pick: (round: Round) => number) => measured.map(pick);
  const result = {
    rate: compared(
      of((round) => round.total),
      of((round) => round.theirs.total),
      true,
    ),
    generation: compared(
      of((round) => round.generation),
      of((round) => round.theirsAlone.generation),
      false,
    ),
    training: compared(
      of((round) => round.training),
      of((round) => round.theirsAlone.train),
      false,
    ),
  };
  const phases = {
    rollout: summary(of((round) => round.rollout)),
    train: summary(of((round) => round.train)),
    publish: summary(of((round) => round.publish)),
    rest: summary(of((round) => round.rest)),
  };
  const trajectoriesPerSecond = {
    ours: options.batchSize / result.rate.ours.median,
    theirs: options.batchSize / result.rate.theirs.median,
  };
  // What the policy wrote, of all turns: where the two sides' actions are of other lengths, their steps are other work.
  const tokensPerSecond = {
    ours: median(of((round) => (options.batchSize * round.actionTokens) / round.total)),
    theirs: median(of(({ theirs }) => (options.batchSize * theirs.completionTokens) / theirs.total)),
  };
  console.log(
    `${options.model}: ${trajectoriesPerSecond.ours.toFixed(1)} trajectories a second, TRL ${trajectoriesPerSecond.theirs.toFixed(1)}; ` +
      `${tokensPerSecond.ours.toFixed(0)} action tokens a second, TRL ${tokensPerSecond.theirs.toFixed(0)}: ` +
      `rate ${result.rate.ratio.min.toFixed(2)} (minima), ${result.rate.ratio.median.toFixed(2)} (medians), bar ${bars[options.model]}; ` +
      `time of generation alone ${result.generation.ratio.min.toFixed(2)}, of training alone ${result.training.ratio.min.toFixed(2)} of TRL's`,
  );
  if (values.json) {
    const line = {
      benchmark: "main-job",
      model: options.model,
      load,
      bar: bars[options.model],
      ...result,
      phases,
    };
    console.log(JSON.stringify({ ...line, trajectoriesPerSecond, tokensPerSecond }));
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
