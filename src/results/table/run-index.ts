import { setImmediate as nextTurn } from "node:timers/promises";
import { ahead } from "../../base/async/ahead.ts";
import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import { stepOf } from "../../contracts/stages.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { finishedTrajectory } from "../../run/projections/finished-trajectory.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import { foldedKey, recordedStepKey, type TrajectoryName } from "../../run/store/keys.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import { listedTrajectories } from "../../run/trajectory/listed-trajectories.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";

/** A finished trajectory of an index. Its properties have the names of the columns of conditions. */
export interface IndexRow extends TrajectoryName {
  trajectory: string;
  step: number;
  version: number | null;
  outcome: FinishedTrajectory["outcome"];
  reward: number;
  success: boolean;
  turns: number;
  tool_calls: number;
  tool: string;
  tools: readonly string[];
  tokens: number;
  prompt_tokens: number;
  action_tokens: number;
  observation_tokens: number;
  failure: string | null;
  /** The parts of the reward, and the metrics of rewards and tools. */
  metrics: Readonly<Record<string, number>> | null;
  seconds: number;
}

/** The finished trajectories of a run in memory, without their texts. A second read only reads what is new. */
export interface RunIndex {
  /** The trajectories as of the last complete read, in the order of stage, task and sample. */
  readonly rows: readonly IndexRow[];
  /** The trajectories without a record at that time: those in progress. */
  readonly running: readonly TrajectoryName[];
  /** How many of the run's steps the current read has reached. */
  readonly progress: { done: number; of: number };
  /** Reads what is new. */
  read(run: Pick<OpenRun, "id" | "store">): Promise<void>;
}

/** An empty index. */
export function runIndex(): RunIndex {
  /** The trajectories in a step's file, which never change, by step. */
  const folded = new Map<number, IndexRow[]>();
  /** Scored trajectories with single records, which never change, by id. */
  const scored = new Map<string, IndexRow>();
  let rows: readonly IndexRow[] = [];
  let running: readonly TrajectoryName[] = [];
  const progress = { done: 0, of: 0 };

  async function readSingle({ id, store }: Pick<OpenRun, "id" | "store">) {
    const found = new Map<string, IndexRow>();
    const unfinished: TrajectoryName[] = [];
    const read = ahead(listedTrajectories(store), objectsAtOnce, async (name) => {
      const known = scored.get(trajectoryId({ ...name, run: id }));
      if (known !== undefined) return { name, row: known };
      const record = await readTrajectoryRecord(store, name);
      return { name, row: record && indexed(id, name, record.step, finishedTrajectory(record)) };
    });
    for await (const { name, row } of read) {
      await nextTurn(); // lets other work in this process run
      if (row === undefined) {
        unfinished.push(name);
        continue;
      }
      found.set(row.trajectory, row);
      if (row.outcome !== "left-out") scored.set(row.trajectory, row); // one that was left out may be tried again
    }
    return { found, unfinished };
  }

  async function readFolded({ id, store }: Pick<OpenRun, "id" | "store">): Promise<void> {
    const newest = await lengthOfRow(store, recordedStepKey);
    progress.of = newest;
    const missing = Array.from({ length: newest }, (_, index) => index + 1).filter(
      (step) => !folded.has(step),
    );
    progress.done = newest - missing.length;
    const read = ahead(missing, filesAtOnce, async (step) => ({
      step,
      tree: await store.readTree(foldedKey(step)),
    }));
    for await (const { step, tree } of read) {
      progress.done++;
      await nextTurn();
      if (tree === undefined) continue; // its trajectories still have single records
      const entries = tree.value.trajectories;
      folded.set(
        step,
        entries.map((entry) => indexed(id, entry, stepOf(entry.stage) ?? step, entry)),
      );
    }
  }

  return {
    get rows() {
      return rows;
    },
    get running() {
      return running;
    },
    progress,
    read: async (run) => {
      const { found: all, unfinished } = await readSingle(run); // first: what moves into a file meanwhile is found there
      await readFolded(run);
      for (const ofStep of folded.values()) {
        for (const row of ofStep) all.set(row.trajectory, row);
        await nextTurn();
      }
      for (const id of scored.keys()) if (all.get(id) !== scored.get(id)) scored.delete(id); // it is in a file
      rows = await inOrder(all.values());
      running = unfinished.filter((name) => !all.has(trajectoryId({ ...name, run: run.id })));
    },
  };
}

/** Few, so that other work of this process waits at most for the parsing of these. */
const filesAtOnce = 4;

function indexed(
  run: string,
  { stage, task, sample }: TrajectoryName,
  step: number,
  {
    outcome,
    reward,
    success,
    policyVersions,
    toolCalls,
    tools,
    tokens,
    seconds,
    failure,
    metrics,
  }: FinishedTrajectory,
): IndexRow {
  const { prompt, action, observation } = tokens;
  const called = tools.toSorted();
  return {
    trajectory: trajectoryId({ run, stage, task, sample }),
    stage,
    step,
    task,
    sample,
    version: policyVersions.at(-1) ?? null,
    outcome,
    reward,
    success,
    turns: policyVersions.length,
    tool_calls: toolCalls,
    tool: called.join(", "),
    tools: called,
    tokens: prompt + action + observation,
    prompt_tokens: prompt,
    action_tokens: action,
    observation_tokens: observation,
    failure: failure ?? null,
    metrics: metrics ?? null,
    seconds,
  };
}

/** Sorts by stage, then within each by task and sample, which is faster than by ids. */
async function inOrder(rows: Iterable<IndexRow>): Promise<IndexRow[]> {
  const stages = new Map<string, IndexRow[]>();
  for (const row of rows) {
    const ofStage = stages.get(row.stage);
    if (ofStage === undefined) stages.set(row.stage, [row]);
    else ofStage.push(row);
  }
  const inStage = (one: IndexRow, other: IndexRow) => {
    if (one.task !== other.task) return one.task < other.task ? -1 : 1;
    return one.sample - other.sample;
  };
  const sorted: IndexRow[] = [];
  for (const [, ofStage] of [...stages].sort(([one], [other]) => (one < other ? -1 : 1))) {
    sorted.push(...ofStage.sort(inStage));
    await nextTurn();
  }
  return sorted;
}
