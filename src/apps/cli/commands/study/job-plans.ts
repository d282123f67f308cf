import { join } from "node:path";
import { isThere } from "../../../../base/files/is-there.ts";
import type { TrainJob } from "../../../../contracts/generated/study.ts";
import type { Plan } from "../../../../contracts/plan.ts";
import { loadPlan } from "../../../../plan/pipeline/load-plan.ts";
import { type JobRun, runsOf } from "../../../../results/studies/job-runs.ts";
import { type CheckedStudy, isTrainJob } from "../../../../results/studies/read-study.ts";

/** Where to run a study's jobs. */
export interface JobPlace {
  /** The study's file as given. */
  file: string;
  runs: string;
  temporal?: string;
  plugins: string[];
}

/** The folder of the policy with which other jobs begin. */
export function policyFolder(runs: string, study: string, job: string): string {
  return join(runs, `${study}-${job}-policy`);
}

/** The plan of a run of a job. Throws the errors of loading a pipeline. */
export function planOf(
  study: CheckedStudy,
  job: TrainJob,
  run: JobRun,
  { plugins, runs }: Pick<JobPlace, "plugins" | "runs">,
): Promise<Plan> {
  const from = job.from === undefined ? [] : beginning(policyFolder(runs, study.name, job.from));
  return loadPlan(job.train, {
    overrides: [...from, ...run.overrides],
    pluginFolders: plugins,
  });
}

/** Overrides that make the policy begin with the model in a folder, whatever it began with before. */
function beginning(folder: string): string[] {
  const config = ["tokenizer", "architecture"].map((key) => `policy.config.${key}=null`);
  return [...config, `policy.config.model=${JSON.stringify(folder)}`];
}

/**
 * Throws the problems of a study's pipelines before anything starts, except for those that need files that a job
 * creates first.
 */
export async function checkPipelines(study: CheckedStudy, place: JobPlace): Promise<void> {
  for (const job of Object.values(study.jobs)) {
    if ("command" in job && !job.makes.every((file) => isThere(file))) return; // they may need its files
    if (!isTrainJob(job)) continue;
    const { from: _, ...alone } = job;
    for (const run of runsOf(job)) await planOf(study, alone, run, place);
  }
}
