import { ahead } from "../../base/async/ahead.ts";
import { number } from "../../base/text/format.ts";
import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import type { TrackedEntry, TrackedHistogram, TrackedTable } from "../../contracts/tracker.ts";
import { evaluatedTrajectories } from "../../results/evaluations/outcomes.ts";
import { readTrainedStep } from "../../results/ledger/trained-steps.ts";
import { binned } from "../../results/report/svg/histogram.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { cut } from "../../run/projections/cut.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { readTrajectories } from "../../run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";

/** The part of an entry that only the trajectories of its step or evaluation show. */
export type TrackedDetails = Pick<TrackedEntry, "histograms" | "tables">;

/** The trajectories in a table, and the most bytes of a prompt or an answer. */
const [samples, longestText] = [4, 4_000];

/** The details of the trajectories that a step trained on; none for a step on examples. */
export async function stepDetails(run: OpenRun, step: number): Promise<TrackedDetails> {
  const trained = await readTrainedStep(run, step);
  return detailsOf(
    run,
    "train",
    trained?.trajectories.map(({ trajectory }) => trajectoryOf(trajectory)) ?? [],
  );
}

/** The details of the trajectories of an evaluation that finished. */
export function evaluationDetails(run: OpenRun, record: EvaluationRecord): Promise<TrackedDetails> {
  return detailsOf(run, "evaluation", evaluatedTrajectories(record));
}

/** Reads trajectories. Those that were left out or cannot be read are missing. */
async function detailsOf(
  run: OpenRun,
  prefix: string,
  names: readonly TrajectoryName[],
): Promise<TrackedDetails> {
  const reader = trajectoryReader(run);
  const finished: { name: TrajectoryName; ended: FinishedTrajectory }[] = [];
  const read = ahead(names, objectsAtOnce, async (name) => ({ name, ended: await reader.finished(name) }));
  for await (const { name, ended } of read) {
    if (ended !== undefined && ended.outcome !== "left-out") finished.push({ name, ended });
  }
  if (finished.length === 0) return {};
  const chosen = spread(finished.toSorted((one, other) => one.ended.reward - other.ended.reward));
  const records = await readTrajectories(
    reader,
    chosen.map(({ name }) => name),
  );
  return {
    histograms: {
      [`${prefix}/rewards`]: histogramOf(finished.map(({ ended }) => ended.reward)),
      [`${prefix}/actionTokens`]: histogramOf(finished.map(({ ended }) => ended.tokens.action)),
    },
    tables: { [`${prefix}/samples`]: tableOf(records) },
  };
}

/** A few items of a list at equal distances, with the first and the last. */
function spread<Item>(items: readonly Item[]): Item[] {
  if (items.length <= samples) return [...items];
  const places = Array.from({ length: samples }, (_, index) =>
    Math.round((index * (items.length - 1)) / (samples - 1)),
  );
  return items.filter((_, index) => places.includes(index));
}

function histogramOf(values: readonly number[]): TrackedHistogram {
  const bins = binned(values);
  return {
    limits: [...bins.slice(0, 1).map(({ from }) => from), ...bins.map(({ to }) => to)],
    counts: bins.map(({ count }) => count),
    sum: values.reduce((sum, value) => sum + value, 0),
    sumOfSquares: values.reduce((sum, value) => sum + value ** 2, 0),
  };
}

function tableOf(records: readonly Trajectory[]): TrackedTable {
  const columns = ["trajectory", "task", "reward", "solved", "outcome", "prompt", "answer", "parts"];
  const rows = records.map(({ id, taskId, task, reward, success, outcome, turns, answer, metrics = {} }) => [
    id,
    taskId,
    reward,
    success,
    outcome,
    cut(task.prompt.map(({ content }) => content).join("\n\n"), longestText),
    cut(answer ?? turns.at(-1)?.action ?? "", longestText),
    Object.entries(metrics)
      .map(([name, value]) => `${name} ${number(value)}`)
      .join(", "),
  ]);
  return { columns, rows };
}
