import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { evaluationStage } from "../../contracts/stages.ts";
import { evaluationKey, evaluationsPrefix } from "../store/keys.ts";
import { listed } from "../store/listed.ts";
import { firstVersion } from "../versions/first-version.ts";
import type { OpenRun } from "./open-runs.ts";
import { valuesSoFar } from "./values-so-far.ts";

/**
 * The evaluations of versions after `after` (default: all) and up to `newest` that a run made itself, in order. The
 * run's plan and its earlier plans determine which ones it makes, so each is read by name.
 */
export async function ownEvaluations(
  { store, plan }: Pick<OpenRun, "store" | "plan">,
  newest: number,
  after = -1,
): Promise<EvaluationRecord[]> {
  const versions = evaluatedVersions(plan, newest).filter((version) => version > after);
  const names = versions.map(evaluationStage);
  const records = await Promise.all(names.map((name) => store.read(evaluationKey(name))));
  return records.filter((record) => record !== undefined);
}

/**
 * The evaluations before a run's first step and the last one up to version `newest`, of those that it made itself.
 * This takes few reads.
 */
export async function firstAndLastEvaluations(
  { store, plan }: Pick<OpenRun, "store" | "plan">,
  newest: number,
): Promise<EvaluationRecord[]> {
  const read = (version: number) => store.read(evaluationKey(evaluationStage(version)));
  const versions = evaluatedVersions(plan, newest);
  const first = versions.filter((version) => version <= firstVersion(plan));
  const records = await Promise.all(first.map(read));
  for (const version of versions.slice(first.length).reverse()) {
    const last = await read(version);
    if (last === undefined) continue;
    records.push(last);
    break;
  }
  return records.filter((record) => record !== undefined);
}

/** All other evaluations that a listing contains, which `everturn evaluate` made. */
export async function otherEvaluations(
  { store }: Pick<OpenRun, "store">,
  own: readonly EvaluationRecord[],
): Promise<EvaluationRecord[]> {
  const known = new Set(own.map(({ name }) => evaluationKey(name).path));
  const records: EvaluationRecord[] = [];
  for await (const path of listed(store, evaluationsPrefix())) {
    if (known.has(path)) continue;
    const record = await store.read<EvaluationRecord>({ path });
    if (record !== undefined) records.push(record);
  }
  return records;
}

/**
 * The versions that a run evaluates: as built, as warmed up, and at all intervals and ends that its plans have had.
 */
function evaluatedVersions(
  plan: Pick<Plan, "warmStart" | "evaluation" | "steps" | "changes">,
  newest: number,
): number[] {
  const first = firstVersion(plan);
  const intervals = valuesSoFar(plan, "evaluation.every", plan.evaluation.every).filter((every) => every > 0);
  const ends = valuesSoFar(plan, "steps", plan.steps);
  const isDue = (step: number) => ends.includes(step) || intervals.some((every) => step % every === 0);
  return Array.from({ length: newest + 1 }, (_, version) => version).filter(
    (version) => version <= first || isDue(version - first),
  );
}
