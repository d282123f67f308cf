import type { EndedGroup } from "../../contracts/rollout.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { leftOutSummary } from "../../run/projections/trajectory-summary.ts";
import { recordedStepKey } from "../../run/store/keys.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { isLeftBehind } from "../ledger/left-behind.ts";
import { readTrainedStep } from "../ledger/trained-steps.ts";
import { type SummarizedRun, summaryOf } from "./read-summary.ts";

/**
 * The groups that a synchronous step was committed with: those it trained on and those it left out. Undefined if it
 * was not committed. A committed step is published and recorded with these groups and draws no others: a group that
 * was left out might succeed now, and the step would record other groups than it trained on.
 */
export async function committedGroups(run: OpenRun, step: number): Promise<EndedGroup[] | undefined> {
  const record = await readTrainedStep(run, step);
  if (record === undefined) return undefined;
  const isRecorded = await run.store.has(recordedStepKey(step)); // its version broke; its trajectories may be in a file
  const from = { plan: run.plan, store: isRecorded ? trajectoryReader(run) : run.store };
  const groups = new Map<string, { group: string; members: Member[] }>();
  const add = (trajectory: string, member: Member) => {
    const { task, sample } = trajectoryOf(trajectory);
    const key = `${task}/${Math.floor(sample / run.plan.rollout.groupSize)}`; // a task may have been drawn twice
    const known = groups.get(key) ?? { group: task, members: [] };
    known.members.push(member);
    groups.set(key, known);
  };
  for (const { trajectory } of record.trajectories) add(trajectory, { trajectory });
  for (const { trajectory, reason } of record.leftOut.filter((one) => !isLeftBehind(one))) {
    add(trajectory, { trajectory, reason });
  }
  return Promise.all([...groups.values()].map((group) => endedGroup(from, record.from, group)));
}

/** A trajectory that the step was offered, and the reason if it was left out. */
interface Member {
  trajectory: string;
  reason?: string;
}

/**
 * If the step trained on no member of a group, the whole group was left out, and its trajectories count as they
 * ended.
 */
async function endedGroup(
  run: SummarizedRun,
  from: number,
  { group, members }: { group: string; members: Member[] },
): Promise<EndedGroup> {
  const hasTrained = members.some(({ reason }) => reason === undefined);
  const results = await Promise.all(
    members.map(async ({ trajectory, reason }) => {
      const record = await readTrajectoryRecord(run.store, trajectoryOf(trajectory));
      const isLeftOut = record === undefined || (hasTrained && reason !== undefined);
      return isLeftOut
        ? leftOutSummary(trajectory, reason ?? "it has no record")
        : summaryOf(run, from, record);
    }),
  );
  return hasTrained ? { group, results } : { group, results, leftOut: "lost" };
}
