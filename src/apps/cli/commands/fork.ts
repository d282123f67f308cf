import type { Command } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { formatReward } from "../../../base/text/format.ts";
import type { Trajectory } from "../../../contracts/generated/trajectory.ts";
import type { TrajectoryInput, TrajectoryResult } from "../../../contracts/trajectory.ts";
import { startTrajectory } from "../../../control/supervision/start-trajectory.ts";
import type { SupervisedRun } from "../../../control/supervision/supervised-run.ts";
import { terminate } from "../../../control/supervision/terminate.ts";
import { withSupervisedRun } from "../../../control/supervision/with-supervised-run.ts";
import { workflowResult } from "../../../control/supervision/workflow-result.ts";
import { takeForkStage } from "../../../run/folder/fork-stage.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { trajectoryReference } from "../../../run/folder/run-reference.ts";
import { nameForCommands } from "../../../run/folder/store-of.ts";
import { copyTurns } from "../../../run/trajectory/copy-turns.ts";
import { findTrajectory } from "../../../run/trajectory/find-trajectory.ts";
import { trajectoryReader } from "../../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../../run/trajectory/trajectory-files.ts";
import { interruptible } from "../terminal/interruptible.ts";
import { count, decimal, positiveCount } from "../terminal/option-values.ts";
import { tableLines } from "../views/table.ts";
import { type ForkPlan, type ForkRequest, forkInputs, forkPlan } from "./fork-plan.ts";

interface Options extends ForkRequest {
  count: number;
  runs: string;
  temporal?: string;
  json: boolean;
}

/**
 * `everturn fork <trajectory> --turn k`: generates other trajectories from its first k turns, without repeating
 * these.
 */
export function registerFork(program: Command): void {
  program
    .command("fork")
    .description("start new trajectories from the first turns of another one without repeating its calls")
    .argument("<trajectory>", "id of the trajectory (run/stage/task/sample), or any unique suffix of it")
    .requiredOption("--turn <number>", "number of turns to keep; 0 keeps only the prompt", count)
    .option(
      "--policy <version or folder>",
      "policy that generates the new turns (default: the same as before)",
    )
    .option("--temperature <number>", "sampling temperature (default: the same as before)", decimal)
    .option("--seed <number>", "random seed (default: the run's seed)", count)
    .option("--count <number>", "number of new trajectories", positiveCount, 1)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .option("--json", "print the result as one line of JSON", false)
    .action(fork);
}

async function fork(named: string, options: Options): Promise<void> {
  const { runs, trajectory } = trajectoryReference(named, options.runs);
  const found = await findTrajectory(runs, trajectory);
  const opened = await openRunFolder(runs, found.run);
  const reader = trajectoryReader(opened);
  const record = await readTrajectoryRecord(reader, found);
  if (record === undefined) throw new EverturnError("TRAJECTORY_UNDER_WAY", { trajectory: found.id });
  const plan = await forkPlan(opened, record, options);
  const { id: run } = opened;
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  const waits = opened.plan.tools.some(({ approval }) => approval !== undefined);
  if (waits)
    note(`tool calls may wait for approval: npx everturn approvals ${await nameForCommands(runs, run)}`);
  const stage = await takeForkStage(opened.store);
  const place = { stage, task: record.taskId };
  for (let sample = 0; sample < options.count; sample++) {
    await copyTurns(
      { ...opened.store, read: reader.read },
      { from: found, to: { ...place, sample }, turns: plan.origin.turns },
    );
  }
  let inputs: TrajectoryInput[] = [];
  const onInterrupt = (supervised: SupervisedRun) =>
    terminate(
      supervised,
      inputs.map((input) => input.place.id),
    );
  const opening = { runs, run, opened, temporal: options.temporal, queuePrefix: `${run}/${stage}/`, note };
  const results = await interruptible(
    (signal) =>
      withSupervisedRun({ ...opening, signal, onInterrupt }, (supervised) => {
        inputs = forkInputs(opened, plan, { stage, count: options.count, queues: supervised.queues });
        return Promise.all(inputs.map((input) => forkIn(supervised, input)));
      }),
    () => note("interrupted"),
  );
  if (results === "interrupted") return;
  process.stdout.write(
    options.json ? `${JSON.stringify(forkJson(stage, plan, results))}\n` : forkText(stage, plan, results),
  );
}

async function forkIn(supervised: SupervisedRun, input: TrajectoryInput): Promise<TrajectoryResult> {
  const handle = await startTrajectory(supervised, input);
  const failed = (reason: string) => new EverturnError("FORK_FAILED", { fork: input.place.id, reason });
  return workflowResult(supervised, handle, failed);
}

function forkJson(stage: string, { record, policyVersion, origin }: ForkPlan, results: TrajectoryResult[]) {
  return {
    fork: stage,
    origin,
    policyVersion,
    original: rowOf(record, record.turns.length),
    trajectories: results.map((result) => rowOf({ ...result, id: result.trajectory }, result.turnCount)),
    rewardMean: meanReward(results),
  };
}

function rowOf(
  { id, outcome, reward, success }: Pick<Trajectory, "id" | "outcome" | "reward" | "success">,
  turns: number,
) {
  return { trajectory: id, outcome, reward, success, turns };
}

function forkText(stage: string, plan: ForkPlan, results: TrajectoryResult[]): string {
  const { record, origin, policyVersion } = plan;
  const { original, trajectories, rewardMean } = forkJson(stage, plan, results);
  const columns = [
    { title: "trajectory" },
    { title: "outcome" },
    ...["reward", "turns"].map((title) => ({ title, align: "right" as const })),
  ];
  const cells = [original, ...trajectories].map(({ trajectory, outcome, reward, turns }) => [
    trajectory,
    outcome,
    formatReward(reward),
    String(turns),
  ]);
  const policy = origin.policyFolder ?? `policy version ${policyVersion}`;
  return `${[
    `${stage}: ${record.id} after turn ${origin.turns}, ${policy}, temperature ${origin.temperature}`,
    ...tableLines(columns, cells),
    ...(results.length > 1
      ? [`mean reward ${formatReward(rewardMean)}, original ${formatReward(record.reward)}`]
      : []),
  ].join("\n")}\n`;
}

function meanReward(results: TrajectoryResult[]): number {
  return results.reduce((total, { reward }) => total + reward, 0) / results.length;
}
