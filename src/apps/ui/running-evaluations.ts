import type { EvaluationPlan, EvaluationRecord } from "../../contracts/run.ts";
import { evaluationStage } from "../../contracts/stages.ts";
import { readReservations } from "../../results/ledger/reservations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { evaluationPlansPrefix } from "../../run/store/keys.ts";
import { listed } from "../../run/store/listed.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { withResults } from "./ended-trajectories.ts";

/** An evaluation that has begun and has no record yet. */
export interface RunningEvaluation {
  name: string;
  /** Trajectories that have ended, and those that have been reserved so far. */
  done: number;
  of: number;
}

/** A run's evaluations without a record: its own of the current version, and those by `everturn evaluate`. */
export async function runningEvaluations(
  run: OpenRun,
  newest: number,
  recorded: readonly EvaluationRecord[],
): Promise<RunningEvaluation[]> {
  const { store } = run;
  const names = new Set([0, firstVersion(run.plan), newest].map(evaluationStage));
  for await (const path of listed(store, evaluationPlansPrefix())) {
    const plan = await store.read<EvaluationPlan>({ path });
    if (plan !== undefined) names.add(plan.name);
  }
  for (const { name } of recorded) names.delete(name);
  const reader = trajectoryReader(run);
  const running: RunningEvaluation[] = [];
  for (const stage of names) {
    const reserved = (await readReservations(store, stage)).flatMap(({ groups }) => groups);
    if (reserved.length === 0) continue;
    const of = reserved.reduce((sum, { samples }) => sum + samples.length, 0);
    const members = await withResults(reader, await reader.list({ stage }));
    running.push({ name: stage, done: members.filter(({ ended }) => ended !== undefined).length, of });
  }
  return running;
}
