import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Notice } from "../../base/processes/notice.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { differences } from "../../plan/pipeline/check/setting-differences.ts";
import { planDocument } from "../../plan/pipeline/read/plan-document.ts";
import {
  compareEvaluations,
  type EvaluationComparison,
  type MeasuredEvaluation,
} from "../../results/evaluations/compare.ts";
import { readOutcomes } from "../../results/evaluations/outcomes.ts";
import { evaluationReference } from "../../run/folder/evaluation-reference.ts";
import { otherEvaluations, ownEvaluations } from "../../run/folder/evaluations.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { known } from "./known-error.ts";

/** Where to find runs. */
interface Options {
  /** The folder to search for ids. Default: `runs`. */
  runs?: string;
  /** Receives a notice about each unreadable record, which counts as absent. */
  onNotice?: (text: string) => void;
}

/**
 * Compares two evaluations. Each is `RUN/EVALUATION`, or a run, whose newest own evaluation counts. Throws
 * RUN_NOT_FOUND, EVALUATION_NOT_FOUND and EVALUATIONS_INCOMPARABLE.
 */
export function compare(first: string, second: string, options: Options = {}): Promise<RunComparison> {
  return known(async () => {
    const [one, other] = [await measured(first, options), await measured(second, options)];
    const settings = differences(planDocument(one.plan).value, planDocument(other.plan).value);
    return {
      ...compareEvaluations(one, other),
      settings: settings.map(({ key, from, to }) => ({ key, first: from, second: to })),
    };
  });
}

/** Two evaluations with the settings that differ between their runs. */
export interface RunComparison extends EvaluationComparison {
  /** By dotted keys, as in pipelines. An absent value is off. */
  settings: { key: string; first?: JsonValue | undefined; second?: JsonValue | undefined }[];
}

async function measured(
  named: string,
  { runs = "runs", onNotice = () => {} }: Options,
): Promise<MeasuredEvaluation & { plan: Plan }> {
  const { run, record } = await openEvaluation(named, runs, onNotice);
  return {
    id: `${run.id}/${record.name}`,
    record,
    outcomes: (await readOutcomes(run, record)).tasks,
    plan: run.plan,
  };
}

/**
 * Opens the evaluation that a person names as `RUN/EVALUATION`, or the newest own evaluation of a run. Unreadable
 * records of the run are reported, by default on standard error. Throws RUN_NOT_FOUND and EVALUATION_NOT_FOUND.
 */
export async function openEvaluation(
  named: string,
  runs: string,
  onNotice?: (text: string) => void,
): Promise<{ run: OpenRun; record: EvaluationRecord }> {
  const reference = evaluationReference(named, runs);
  const tell = onNotice === undefined ? undefined : ({ notice }: Notice) => onNotice(notice);
  const run = await openRunFolder(reference.runs, reference.run, tell);
  return { run, record: await findEvaluation(run, reference.evaluation) };
}

async function findEvaluation(run: OpenRun, wanted: string | undefined): Promise<EvaluationRecord> {
  const last = await lastRecordedStep(run.store);
  const own = await ownEvaluations(run, last?.policyVersion ?? firstVersion(run.plan));
  const all = [...own, ...(await otherEvaluations(run, own))];
  const found =
    wanted === undefined
      ? (own.at(-1) ?? all.at(-1))
      : all.find(({ name }) => name === wanted || name === `evaluation-${wanted}`);
  if (found !== undefined) return found;
  const named = all.length === 0 ? "It has none." : `It has ${all.map(({ name }) => name).join(", ")}.`;
  throw new EverturnError("EVALUATION_NOT_FOUND", {
    run: run.id,
    evaluation: wanted ?? "at all",
    known: named,
  });
}
