import { resolve } from "node:path";
import type { Command } from "commander";
import { type CheckedStudy, readStudy } from "../../../results/studies/read-study.ts";
import { studyResults } from "../../../results/studies/study-results.ts";
import { collect } from "../terminal/option-values.ts";
import { writeOut } from "../terminal/written-json.ts";
import { doJob } from "./study/do-job.ts";
import { checkPipelines, type JobPlace } from "./study/job-plans.ts";
import { resultsText } from "./study/results-text.ts";

interface Options {
  runs: string;
  temporal?: string;
  plugins: string[];
  table: boolean;
  json: boolean;
}

/** `everturn study <file>`: starts or continues the jobs of a study in order, and prints their measures. */
export function registerStudy(program: Command): void {
  program
    .command("study")
    .description("run or continue the jobs of a study in order: runs, sweeps, evaluations, exports")
    .argument("<study>", "study file (YAML)")
    .option("--table", "only print the results so far", false)
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--json", "print the result as one line of JSON", false)
    .action(doStudy);
}

async function doStudy(file: string, { table, json, ...options }: Options): Promise<void> {
  const study = readStudy(file);
  const place: JobPlace = { ...options, runs: resolve(options.runs), file };
  if (!table && !(await doJobs(study, place))) return;
  const jobs = await studyResults(study, place.runs);
  await writeOut(`${json ? JSON.stringify({ study: study.name, jobs }) : resultsText(jobs)}\n`);
}

/** Returns false if it was interrupted. */
async function doJobs(study: CheckedStudy, place: JobPlace): Promise<boolean> {
  const note = (text: string) => void process.stderr.write(`${text}\n`);
  await checkPipelines(study, place);
  const names = Object.keys(study.jobs);
  for (const [index, name] of names.entries()) {
    const tell = (text: string) => note(`job ${index + 1}/${names.length} ${name}: ${text}`);
    if ((await doJob(study, name, place, tell)) === "done") continue;
    note(`finished jobs are kept; npx everturn study ${place.file} continues`);
    return false;
  }
  return true;
}
