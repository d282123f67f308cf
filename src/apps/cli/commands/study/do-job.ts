import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { isThere } from "../../../../base/files/is-there.ts";
import { defined } from "../../../../base/records/defined.ts";
import { displayPath } from "../../../../base/validation/place.ts";
import type { CommandJob, EvaluateJob, ExportJob, TrainJob } from "../../../../contracts/generated/study.ts";
import { evaluateRun } from "../../../../control/operations/evaluate-run.ts";
import { isPlanOf, placeRun } from "../../../../control/operations/place-run.ts";
import { withWeights } from "../../../../control/operations/with-weights.ts";
import type { FloatType } from "../../../../engine/models/weights/float-types.ts";
import { runId, runsOf } from "../../../../results/studies/job-runs.ts";
import { type CheckedStudy, isTrainJob } from "../../../../results/studies/read-study.ts";
import { evaluationNames, jobResult } from "../../../../results/studies/study-results.ts";
import { openRunFolder } from "../../../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../../../run/folder/recorded-steps.ts";
import { isRun } from "../../../../run/folder/run-file.ts";
import { interruptible } from "../../terminal/interruptible.ts";
import { train } from "../train.ts";
import { dtypes, writeExport } from "../written-export.ts";
import { type JobPlace, planOf, policyFolder } from "./job-plans.ts";
import { runCommand } from "./run-command.ts";

type Done = "done" | "interrupted";

/** Completes one job of a study. Throws the errors of its runs, STUDY_RUN_DIFFERS and STUDY_COMMAND_FAILED. */
export async function doJob(
  study: CheckedStudy,
  name: string,
  place: JobPlace,
  tell: (text: string) => void,
): Promise<Done> {
  const job = study.jobs[name];
  if (job === undefined) throw new Error(`The study has no job ${name}.`);
  if ("train" in job) return trainAll(study, name, job, place, tell);
  if ("evaluate" in job) return evaluateAll(study, name, job, place, tell);
  if ("export" in job) return exportBest(study, job, place, tell);
  return prepare(study, name, job, tell);
}

async function trainAll(
  study: CheckedStudy,
  name: string,
  job: TrainJob,
  place: JobPlace,
  tell: (text: string) => void,
): Promise<Done> {
  const { runs, temporal } = place;
  if (job.from !== undefined) await writeBeginning(study, job.from, runs);
  const all = runsOf(job);
  for (const one of all) {
    const run = runId(study.name, name, job, one.number);
    const plan = await planOf(study, job, one, place);
    const isResumed = isRun(runs, run);
    if (isResumed && !(await isPlanOf({ runs, run }, plan)))
      throw new EverturnError("STUDY_RUN_DIFFERS", { run });
    if (isResumed && (await hasEnded(runs, run))) {
      tell(`${run} has ended`);
      continue;
    }
    tell(`${isResumed ? "continuing " : ""}run ${one.number} of ${all.length}, ${run}`);
    if (!isResumed) await placeRun(plan, { runs, run });
    if ((await train({ runs, run, temporal, json: false, isResumed })) === "interrupted")
      return "interrupted";
  }
  return "done";
}

/** Writes the newest policy of a job's only run as a model's folder, once. */
async function writeBeginning(study: CheckedStudy, from: string, runs: string): Promise<void> {
  const folder = policyFolder(runs, study.name, from);
  if (isThere(folder)) return;
  await exportNewest(runs, runId(study.name, from, {}, 1), folder, { dtype: "F32", merge: true });
}

/** Exports the newest policy of a run. An adapter is exported with version 0 as its base. */
async function exportNewest(
  runs: string,
  run: string,
  target: string,
  options: { dtype: FloatType; merge: boolean },
): Promise<void> {
  const opened = await openRunFolder(runs, run);
  await withWeights(opened, "newest", ({ policy, base }) =>
    writeExport(policy, target, defined({ ...options, base })),
  );
}

/** Whether all of its steps and the evaluation at its end are recorded. */
async function hasEnded(runs: string, run: string): Promise<boolean> {
  const { plan, store, folder } = await openRunFolder(runs, run);
  const last = await lastRecordedStep(store);
  return (last?.step ?? 0) === plan.steps && isThere(folder.report);
}

async function evaluateAll(
  study: CheckedStudy,
  name: string,
  job: EvaluateJob,
  { runs, temporal }: JobPlace,
  tell: (text: string) => void,
): Promise<Done> {
  const trained = study.jobs[job.evaluate];
  if (!isTrainJob(trained)) return "done";
  const { tasks, limit, samples, temperature, tools } = job;
  for (const { number } of runsOf(trained)) {
    const run = runId(study.name, job.evaluate, trained, number);
    const versions = evaluationNames(name, job);
    tell(`${run}, policy versions ${versions.map(([version]) => version).join(", ")}`);
    const asked = versions.map(([version, evaluation]) => {
      const policyVersion = version === "newest" ? undefined : version;
      return { tasks, limit, samples, temperature, tools, policyVersion, name: evaluation };
    });
    const ended = await interruptible((signal) => evaluateRun({ runs, run }, asked, { temporal, signal }));
    if (ended === "interrupted") return "interrupted";
  }
  return "done";
}

async function exportBest(
  study: CheckedStudy,
  { export: from, to, dtype, merge }: ExportJob,
  { runs }: JobPlace,
  tell: (text: string) => void,
): Promise<Done> {
  if (isThere(to)) {
    tell(`${displayPath(to)} already exists`);
    return "done";
  }
  const run = await bestRun(study, from, runs);
  await exportNewest(runs, run, to, { dtype: dtypes[dtype], merge });
  tell(`the policy of ${run} is in ${displayPath(to)}`);
  return "done";
}

/** The job's run that ends with the best held-out accuracy; the first of equals. */
async function bestRun(study: CheckedStudy, job: string, runs: string): Promise<string> {
  const rows = (await jobResult(study, runs, job))?.rows ?? [];
  const last = [...new Map(rows.map((row) => [row.run, row])).values()]; // the last evaluation of each
  const accuracy = ({ measures }: (typeof last)[number]) => measures.accuracy?.value ?? 0;
  const [best] = last.toSorted((one, other) => accuracy(other) - accuracy(one));
  if (best === undefined) throw new Error(`The job ${job} has no run with an evaluation.`);
  return best.run;
}

async function prepare(
  study: CheckedStudy,
  name: string,
  { command, makes }: CommandJob,
  tell: (text: string) => void,
): Promise<Done> {
  const missing = () => makes.filter((file) => !isThere(file));
  if (missing().length === 0) {
    tell(`${makes.map(displayPath).join(", ")} ${makes.length === 1 ? "is" : "are"} there already`);
    return "done";
  }
  tell(command.join(" "));
  const ended = await interruptible((signal) => runCommand(name, command, { folder: study.folder, signal }));
  if (ended === "interrupted") return "interrupted";
  const left = missing();
  if (ended === undefined && left.length === 0) return "done";
  const reason = ended ?? `did not make ${left.map(displayPath).join(", ")}`;
  throw new EverturnError("STUDY_COMMAND_FAILED", { job: name, command: command.join(" "), reason });
}
