import { join } from "node:path";
import { isThere } from "../../../../base/files/is-there.ts";
import type { TrainJob } from "../../../../contracts/generated/study.ts";
import type { Plan } from "../../../../contracts/plan.ts";
import { loadPlan } from "../../../../plan/pipeline/load-plan.ts";
import { type JobRun, runsOf } from "../../../../results/studies/job-runs.ts";
import { type CheckedStudy, isTrainJob } from "../../../../results/studies/read-study.ts";

/** Where a study's jobs are done. */
export interface JobPlace {
  /** The study's file, as it was named. */
  file: string;
  runs: string;
  temporal?: string;
  plugins: string[];
}

/** Where the policy that other jobs begin with is written. */
export function policyFolder(runs: string, study: string, job: string): string {
  return join(runs, `${study}-${job}-policy`);
}

/** The plan of a run of a job. Throws what loading a pipeline does. */
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

/** Has the policy begin with the model in a folder, whatever it began with before. */
function beginning(folder: string): string[] {
  const config = ["tokenizer", "architecture"].map((key) => `policy.config.${key}=null`);
  return [...config, `policy.config.model=${JSON.stringify(folder)}`];
}

/** Throws what is wrong with the pipelines of a study, before anything is done: of those that need nothing that a job makes first. */
export async function checkPipelines(study: CheckedStudy, place: JobPlace): Promise<void> {
  for (const job of Object.values(study.jobs)) {
    if ("command" in job && !job.makes.every((file) => isThere(file))) return; // they may need what it makes
    if (!isTrainJob(job)) continue;
    const { from: _, ...alone } = job;
    for (const run of runsOf(job)) await planOf(study, alone, run, place);
  }
}
