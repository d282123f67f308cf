import { ahead } from "../../base/async/ahead.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { type TrajectoryName, turnKey } from "../../run/store/keys.ts";
import type { RecordReader } from "../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { type PromptMessage, seenPrompt } from "./prompt-images.ts";

/** How a task's result changed between two evaluations. */
export type Change = "gained" | "lost" | "unsolved" | "kept";

/** One task with the trajectories of two policy versions. */
export interface Pair {
  change: Change;
  /** The task's prompt as the policy saw it. */
  prompt: PromptMessage[];
  before: Trajectory;
  after: Trajectory;
}

/** Two evaluations on the same tasks: how many results changed, and examples of each kind. */
export interface Comparison {
  before: EvaluationRecord;
  after: EvaluationRecord;
  counts: Record<Change, number>;
  examples: Pair[];
}

/** How many examples of each kind to show, in order. They are the first by task, so they are not cherry-picked. */
const shown: [Change, number][] = [
  ["gained", 2],
  ["lost", 1],
  ["unsolved", 1],
  ["kept", 1],
];

/**
 * Compares two evaluations task by task; undefined if there are not two, or they share no task. Only the examples
 * are read in full.
 */
export async function compare(
  reader: RecordReader,
  before: EvaluationRecord | undefined,
  after: EvaluationRecord | undefined,
): Promise<Comparison | undefined> {
  if (before === undefined || after === undefined || before.name === after.name) return undefined;
  const earlier = await successes(reader, before.name);
  const later = await successes(reader, after.name);
  const counts = { gained: 0, lost: 0, unsolved: 0, kept: 0 };
  const picked = new Map<Change, TrajectoryName[]>(shown.map(([change]) => [change, []]));
  for (const [key, { name, success }] of earlier) {
    const counterpart = later.get(key);
    if (counterpart === undefined) continue;
    const change = changeOf(success, counterpart.success);
    counts[change]++;
    picked.get(change)?.push(name);
  }
  if (Object.values(counts).every((count) => count === 0)) return undefined;
  const examples: Pair[] = [];
  for (const [change, most] of shown) {
    for (const name of picked.get(change)?.slice(0, most) ?? []) {
      const earlierOne = await readTrajectoryRecord(reader, name);
      const laterOne = await readTrajectoryRecord(reader, { ...name, stage: after.name });
      if (earlierOne === undefined || laterOne === undefined) continue;
      const first = await reader.read(turnKey(name, 1));
      const prompt = seenPrompt(earlierOne.task.prompt, first?.appended);
      examples.push({ change, prompt, before: earlierOne, after: laterOne });
    }
  }
  return { before, after, counts, examples };
}

/** Whether each ended trajectory of an evaluation solved its task. */
async function successes(reader: RecordReader, stage: string) {
  const ended = new Map<string, { name: TrajectoryName; success: boolean }>();
  const names = await reader.list({ stage });
  for await (const { name, finished } of ahead(names, together, async (listed) => ({
    name: listed,
    finished: await reader.finished(listed),
  }))) {
    if (finished !== undefined) ended.set(`${name.task}/${name.sample}`, { name, success: finished.success });
  }
  return ended;
}

/** Trajectories that are read at once. */
const together = 32;

function changeOf(before: boolean, after: boolean): Change {
  if (before) return after ? "kept" : "lost";
  return after ? "gained" : "unsolved";
}
