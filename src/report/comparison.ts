import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { EvaluationRecord } from "../contracts/run.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { listTrajectories, readTrajectories } from "../trajectory/trajectory-files.ts";

/** What became of a task between two evaluations. */
export type Change = "gained" | "lost" | "unsolved" | "kept";

/** One task as two policy versions took it. */
export interface Pair {
  change: Change;
  before: TrajectoryRecord;
  after: TrajectoryRecord;
}

/** Two evaluations on the same tasks: how many changed, and examples of each kind. */
export interface Comparison {
  before: EvaluationRecord;
  after: EvaluationRecord;
  counts: Record<Change, number>;
  examples: Pair[];
}

/** How many examples of each kind, in the order of showing: the first ones by task, so that none is picked. */
const shown: [Change, number][] = [
  ["gained", 2],
  ["lost", 1],
  ["unsolved", 1],
  ["kept", 1],
];

/** Compares two evaluations task by task; undefined where there are not two, or no task is in both. */
export async function compare(
  run: Pick<OpenRun, "folder" | "store">,
  before: EvaluationRecord | undefined,
  after: EvaluationRecord | undefined,
): Promise<Comparison | undefined> {
  if (before === undefined || after === undefined || before.name === after.name) return undefined;
  const earlier = await readStage(run, before.name);
  const later = new Map((await readStage(run, after.name)).map((record) => [keyOf(record), record]));
  const pairs = earlier.flatMap((record) => {
    const counterpart = later.get(keyOf(record));
    return counterpart === undefined
      ? []
      : [{ change: changeOf(record, counterpart), before: record, after: counterpart }];
  });
  if (pairs.length === 0) return undefined;
  const count = (change: Change) => pairs.filter((pair) => pair.change === change).length;
  const counts = {
    gained: count("gained"),
    lost: count("lost"),
    unsolved: count("unsolved"),
    kept: count("kept"),
  };
  const examples = shown.flatMap(([change, most]) =>
    pairs.filter((pair) => pair.change === change).slice(0, most),
  );
  return { before, after, counts, examples };
}

async function readStage(
  { folder, store }: Pick<OpenRun, "folder" | "store">,
  stage: string,
): Promise<TrajectoryRecord[]> {
  return readTrajectories(store, await listTrajectories(folder, { stage }));
}

function keyOf({ taskId, sample }: TrajectoryRecord): string {
  return `${taskId}/${sample}`;
}

function changeOf(before: TrajectoryRecord, after: TrajectoryRecord): Change {
  if (before.success) return after.success ? "kept" : "lost";
  return after.success ? "gained" : "unsolved";
}
