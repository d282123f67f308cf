import { defined } from "../../base/records/defined.ts";
import { meanEstimate } from "../../base/statistics/estimate.ts";
import type { EvaluateJob, TrainJob } from "../../contracts/generated/study.ts";
import type { Estimate } from "../../contracts/measured.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { ownEvaluations } from "../../run/folder/evaluations.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import { isRun } from "../../run/folder/run-file.ts";
import { evaluationKey } from "../../run/store/keys.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { numbersOf } from "../evaluations/numbers.ts";
import { readOutcomes } from "../evaluations/outcomes.ts";
import { runId, runsOf } from "./job-runs.ts";
import { type CheckedStudy, isTrainJob } from "./read-study.ts";

/** A run's measures, with its values of the matrix. */
export interface StudyRow {
  run: string;
  values: Record<string, unknown>;
  /** The evaluation with these measures. */
  evaluation: string;
  policyVersion: number;
  tasks: number;
  measures: Record<string, Estimate>;
}

/** The means over runs that only differ by their seed, with Student's interval over the runs. */
export interface SeedMeans {
  values: Record<string, unknown>;
  policyVersion: number;
  runs: number;
  measures: Record<string, Estimate>;
}

/** The results of a job that trains or evaluates. */
export interface JobResult {
  job: string;
  rows: StudyRow[];
  /** Present if the matrix has a seed. */
  overSeeds?: SeedMeans[];
}

/**
 * The measures of a study's jobs so far: for training jobs each run's own first and last evaluation, for evaluation
 * jobs the requested evaluations. They contain no times, so the same study always returns the same results.
 */
export async function studyResults(study: CheckedStudy, runs: string): Promise<JobResult[]> {
  const results: JobResult[] = [];
  for (const job of Object.keys(study.jobs)) {
    const found = await jobResult(study, runs, job);
    if (found !== undefined) results.push(found);
  }
  return results;
}

/** The measures of one job so far, as in `studyResults`; undefined for a job that neither trains nor evaluates. */
export async function jobResult(
  study: CheckedStudy,
  runs: string,
  job: string,
): Promise<JobResult | undefined> {
  const what = study.jobs[job];
  if (isTrainJob(what)) return result(job, what, await rowsOf(study, runs, job, what, ownEnds));
  if (what === undefined || !("evaluate" in what)) return undefined;
  const trained = study.jobs[what.evaluate];
  if (!isTrainJob(trained)) return undefined;
  const asked = (run: OpenRun) => namedEvaluations(run, job, what);
  return result(job, trained, await rowsOf(study, runs, what.evaluate, trained, asked));
}

function result(job: string, { matrix = {} }: TrainJob, rows: StudyRow[]): JobResult {
  return defined({ job, rows, overSeeds: "seed" in matrix ? overSeeds(rows) : undefined });
}

async function rowsOf(
  { name }: CheckedStudy,
  runs: string,
  job: string,
  train: TrainJob,
  evaluationsOf: (run: OpenRun) => Promise<EvaluationRecord[]>,
): Promise<StudyRow[]> {
  const rows: StudyRow[] = [];
  for (const { number, values } of runsOf(train)) {
    const id = runId(name, job, train, number);
    if (!isRun(runs, id)) continue;
    const run = await openRunFolder(runs, id, () => {}); // reported when it was trained
    for (const record of await evaluationsOf(run)) {
      const { measures } = record.numbers ?? numbersOf((await readOutcomes(run, record)).tasks);
      const { name: evaluation, policyVersion, tasks } = record;
      rows.push({ run: id, values, evaluation, policyVersion, tasks, measures });
    }
  }
  return rows;
}

async function ownEnds(run: OpenRun): Promise<EvaluationRecord[]> {
  const last = await lastRecordedStep(run.store);
  const own = await ownEvaluations(run, last?.policyVersion ?? firstVersion(run.plan));
  return own.length < 2 ? own : own.filter((_, index) => index === 0 || index === own.length - 1);
}

/** The names of a job's evaluations, one for each version. */
export function evaluationNames(
  job: string,
  { versions }: EvaluateJob,
): [version: number | "newest", name: string][] {
  return versions.map((version) => [
    version,
    versions.length === 1 ? job : `${job}-${version === "newest" ? version : `v${version}`}`,
  ]);
}

async function namedEvaluations(
  { store }: OpenRun,
  job: string,
  what: EvaluateJob,
): Promise<EvaluationRecord[]> {
  const names = evaluationNames(job, what).map(([, name]) => name);
  const records = await Promise.all(names.map((name) => store.read(evaluationKey(`evaluation-${name}`))));
  return records.filter((record) => record !== undefined);
}

function overSeeds(rows: readonly StudyRow[]): SeedMeans[] {
  const groups = new Map<string, StudyRow[]>();
  for (const row of rows) {
    const alike = JSON.stringify([withoutSeed(row.values), row.policyVersion]);
    groups.set(alike, [...(groups.get(alike) ?? []), row]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const means = Object.keys(first.measures).map((name) => [
      name,
      meanEstimate(group.flatMap((row) => row.measures[name]?.value ?? [])),
    ]);
    return [
      {
        values: withoutSeed(first.values),
        policyVersion: first.policyVersion,
        runs: group.length,
        measures: Object.fromEntries(means),
      },
    ];
  });
}

function withoutSeed({ seed: _, ...values }: Record<string, unknown>): Record<string, unknown> {
  return values;
}
