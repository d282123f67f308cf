import type { TrainJob } from "../../contracts/generated/study.ts";

/**
 * A run of a job: its values of the matrix, and the overrides of the pipeline that follow from these and the job.
 */
export interface JobRun {
  /** Its number among the job's runs, from 1. */
  number: number;
  /** By the matrix's keys. */
  values: Record<string, unknown>;
  /** In the form of `--set`. */
  overrides: string[];
}

/** The runs of a training job: one, or one for each combination of its matrix, with the last key changing first. */
export function runsOf({ set = {}, matrix = {} }: TrainJob): JobRun[] {
  let combinations: Record<string, unknown>[] = [{}];
  for (const [key, values] of Object.entries(matrix))
    combinations = combinations.flatMap((before) => values.map((value) => ({ ...before, [key]: value })));
  return combinations.map((values, index) => ({
    number: index + 1,
    values,
    overrides: Object.entries({ ...set, ...values }).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  }));
}

/** The id of a run of a job: `STUDY-JOB`, or with a matrix `STUDY-JOB-2`. */
export function runId(
  study: string,
  job: string,
  { matrix }: Pick<TrainJob, "matrix">,
  number: number,
): string {
  return matrix === undefined ? `${study}-${job}` : `${study}-${job}-${number}`;
}
