import { cp, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordEvaluation } from "../../activities/record-evaluation.ts";
import { recordStep } from "../../activities/record-step.ts";
import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import { mean } from "../../src/base/statistics/mean.ts";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { EvaluationRecord, RunFile } from "../../src/contracts/run.ts";
import type { TrajectoryResult } from "../../src/contracts/trajectory.ts";
import { createFraming } from "../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../src/engine/tokens/tokenizer.ts";
import { type OpenRun, openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { resultSummary } from "../../src/run/projections/trajectory-summary.ts";
import { planRow, runFileKey } from "../../src/run/store/keys.ts";
import { openRunStore } from "../../src/run/store/open-run-store.ts";
import { stepRecord } from "../../workflows/step-record.ts";
import { type SampleOptions, samplePlan, tokenizerFolder, validationFile } from "./sample-plan.ts";
import { type Course, writeTrajectory } from "./sample-trajectory.ts";
import { writeVersion } from "./versions.ts";

const defaults: SampleOptions = { steps: 4, batchSize: 8, tasks: 6, warmStart: true, evaluationEvery: 2 };
const queues = { orchestration: "orchestration", policy: "policy", tools: "tools", trainer: "trainer" };
const reward = {
  retry: { maximumAttempts: 1, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 },
  pure: true,
};

/** A sample run on disk: where it lies, and the run opened. */
export interface SampleRun extends OpenRun {
  runs: string;
}

/**
 * Writes a run folder as a run leaves it, small and the same each time, into `runs` or a temporary folder: the
 * policy learns to call the calculator. Step 1 has an unreadable call, a retried one and one left out; after the
 * last step a trajectory is under way. It has no weights, only the tokenizer.
 */
export async function writeSampleRun(
  options: Partial<SampleOptions> = {},
  runs?: string,
): Promise<SampleRun> {
  const settings = { ...defaults, ...options };
  const root = runs ?? (await mkdtemp(join(tmpdir(), "everturn-sample-")));
  const id = "calculator-sample";
  const folder = runFolder(root, id);
  const file: RunFile = {
    run: id,
    createdAt: "2025-11-21T06:00:00.000Z",
    namespace: "default",
    queues,
    telemetry: false,
  };
  const store = openRunStore(folder.root);
  await store.record(planRow(1), samplePlan(settings));
  await store.record(runFileKey, file);
  const run = await openRunFolder(root, id);
  await writeVersion(run, 0, (policy) => cp(tokenizerFolder, policy, { recursive: true }));
  const tokenizer = await loadTokenizer(tokenizerFolder);
  const kit = { tokenizer, framing: createFraming(tokenizer) };
  const tasks: Task[] = (await readFile(validationFile, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const first = settings.warmStart ? 1 : 0;
  const uniform = createUniformStream({ seed: 1, trajectory: "courses", turn: 0 });
  let drawn = 0;

  function write(stage: string, step: number, row: number, policyVersion: number, course: Course) {
    const task = tasks[row % tasks.length];
    if (task === undefined) throw new Error("the validation file is empty");
    const name = `task-${String(row).padStart(5, "0")}`;
    const place = { id: `${id}/${stage}/${name}/0`, run: id, stage, step, task: name, sample: 0 };
    return writeTrajectory(run, kit, { place, task, policyVersion, course });
  }

  /** How likely the policy calls the tool; greedy decoding sharpens it. */
  const courseAt = (step: number, isGreedy: boolean): Course => {
    const learned =
      settings.warmStart || step > 0 ? 0.3 + 0.68 / (1 + Math.exp(5 - (12 * step) / settings.steps)) : 0;
    const chance = isGreedy ? learned ** 2 / (learned ** 2 + (1 - learned) ** 2) : learned;
    return uniform(drawn++) < chance ? "call" : "guess";
  };

  async function evaluate(policyVersion: number, step: number): Promise<void> {
    const name = `evaluation-v${String(policyVersion).padStart(4, "0")}`;
    const results: TrajectoryResult[] = [];
    for (let row = 0; row < settings.tasks; row++) {
      const course = policyVersion === 0 ? "noise" : courseAt(step, true);
      results.push(await write(name, step, row, policyVersion, course));
    }
    const record: EvaluationRecord = {
      name,
      step,
      policyVersion,
      tasks: results.length,
      leftOut: 0,
      seconds: 8,
      accuracy: mean(results.map((result) => Number(result.success))),
      rewardMean: mean(results.map((result) => result.reward)),
      toolCallRate: mean(results.map((result) => Number(result.toolCalls > 0))),
      meanActionTokens: mean(results.map((result) => result.tokens.action)),
    };
    await recordEvaluation(async () => run)({ run: id, record });
  }

  await evaluate(0, 0);
  if (settings.warmStart) await evaluate(1, 0);
  const special: Course[] = ["unreadable", "retried", "left-out"];
  for (let step = 1; step <= settings.steps; step++) {
    const stage = `step-${String(step).padStart(4, "0")}`;
    const results: TrajectoryResult[] = [];
    for (let index = 0; index < settings.batchSize; index++) {
      const course = (step === 1 ? special[index] : undefined) ?? courseAt(step - 1, false);
      results.push(
        await write(stage, step, 1000 + step * settings.batchSize + index, first + step - 1, course),
      );
    }
    const record = sampleStep(run, step, first + step, results, uniform(drawn++));
    const finished = results.filter(({ outcome }) => outcome !== "left-out");
    const trajectories = finished.map(({ trajectory }) => trajectory);
    await recordStep(async () => run, { add: () => {} })({ run: id, record, finished: trajectories });
    if (step % settings.evaluationEvery === 0 || step === settings.steps) await evaluate(first + step, step);
  }
  const next = `step-${String(settings.steps + 1).padStart(4, "0")}`;
  await write(next, settings.steps + 1, 5000, first + settings.steps, "under way");
  return { ...run, runs: root };
}

function sampleStep(
  run: OpenRun,
  step: number,
  policyVersion: number,
  results: TrajectoryResult[],
  noise: number,
) {
  const progress = step / run.plan.steps;
  const metrics = {
    kl: 0.2 * progress * (0.9 + 0.2 * noise),
    approximateKl: 0.01 * noise,
    entropy: 0.35 - 0.25 * progress + 0.02 * noise,
    clipFraction: 0.02 + 0.05 * noise,
    policyLoss: -0.02 * noise,
    valueLoss: 0.25 * (1 - 0.8 * progress) + 0.02 * noise,
    gradientNorm: 0.6 + 0.5 * noise,
    learningRate: 1e-4 * Math.min(1, step / 10),
    logprobGap: 2e-6,
  };
  const trainedBefore = (step - 1) * run.plan.rollout.batchSize;
  const input = { step, policyVersion: policyVersion - 1, settings: settingsOf(run), trainedBefore };
  const train = 3000 + 1000 * noise;
  const seconds = { policyVersion, metrics, seconds: train / 1000 };
  const groups = results.map((result) => ({ group: result.trajectory, results: [resultSummary(result)] }));
  return stepRecord(input, groups, seconds, [0, 2500, 2500 + train, 2700 + train]);
}

function settingsOf({ plan }: OpenRun) {
  const { batchSize, groupSize, concurrency } = plan.rollout;
  return {
    seed: plan.seed,
    steps: plan.steps,
    warmStartSteps: plan.warmStart?.steps ?? 0,
    batchSize,
    groupSize,
    concurrency,
    tools: [],
    staleness: 0,
    minGroup: 1,
    limits: {},
    maxInfrastructureFailures: 1,
    reward,
    sampling: { temperature: 1, maxTokens: 48 },
    evaluationEvery: plan.evaluation.every,
    evaluationTasks: plan.evaluation.tasks,
    loop: { plugin: plan.loop.name, config: plan.loop.config },
  };
}
