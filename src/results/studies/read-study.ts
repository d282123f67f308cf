import { dirname, resolve } from "node:path";
import studySchema from "../../../schemas/study.schema.json" with { type: "json" };
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { checkValue } from "../../base/validation/check-value.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { nearest, suggestion } from "../../base/validation/nearest.ts";
import { child, type Pointer, valueAt } from "../../base/validation/pointer.ts";
import { type Problem, refusal } from "../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import type { Job, Study, TrainJob } from "../../contracts/generated/study.ts";
import { isObject } from "../../contracts/json.ts";
import { fillVariables } from "../../plan/pipeline/read/fill-variables.ts";
import { readPipeline } from "../../plan/pipeline/read/read-pipeline.ts";
import { runsOf } from "./job-runs.ts";

/** A valid study: its paths are absolute, and its jobs only refer to earlier ones. */
export interface CheckedStudy extends Study {
  /** The folder that contains it. */
  folder: string;
}

/** Reads a study. Throws PIPELINE_NOT_FOUND, and WRONG_CONFIGURATION with all problems, each with its place. */
export function readStudy(file: string): CheckedStudy {
  const path = resolve(file);
  const folder = dirname(path);
  const document = fillVariables(readPipeline(path));
  const { errors, valid: study } = checkValue<Study>(studySchema, document.value, folder);
  const kindless = kindProblems(document);
  if (study === undefined || kindless.size > 0) {
    const others = errors.filter(({ instancePath }) => !kindless.has(instancePath));
    const problems = problemsOf(others, document, { base: "", whole: "the study" });
    throw refusal(document.file, [...problems, ...kindless.values()]);
  }
  const problems = referenceProblems(study, document);
  if (problems.length > 0) throw refusal(document.file, problems);
  return { ...study, folder };
}

/**
 * A problem for each job without a kind, by its pointer. The schema's own message would describe what a program job
 * needs.
 */
function kindProblems(document: SourceDocument): Map<Pointer, Problem> {
  const jobs = valueAt(document.value, "/jobs");
  const found = new Map<Pointer, Problem>();
  for (const [name, job] of isObject(jobs) ? Object.entries(jobs) : []) {
    if (!isObject(job) || kinds.some((kind) => kind in job)) continue;
    const pointer = child("/jobs", name);
    const [meant] = Object.keys(job).flatMap((key) => nearest(key, kinds) ?? []);
    const hint = meant === undefined ? "Add one of them (docs/studies.md)." : `Did you mean “${meant}”?`;
    const place = placeOf(document, pointer, "key");
    const params = { at: place.text, job: name, reason: `it has none of ${kinds.join(", ")}`, hint };
    found.set(pointer, { place, error: new EverturnError("STUDY_JOB_UNKNOWN", params) });
  }
  return found;
}

const kinds = ["train", "evaluate", "export", "command"];

/**
 * Problems of jobs that refer to something other than an earlier training job, or that begin from one of several
 * runs.
 */
function referenceProblems({ jobs }: Study, document: SourceDocument): Problem[] {
  const names = Object.keys(jobs);
  return Object.entries(jobs).flatMap(([name, job], index): Problem[] => {
    const [key, named] = reference(job);
    if (key === undefined || named === undefined) return [];
    const place = placeOf(document, child(child("/jobs", name), key), "value");
    const refused = (reason: string, hint: string): Problem[] => [
      { place, error: new EverturnError("STUDY_JOB_UNKNOWN", { at: place.text, job: name, reason, hint }) },
    ];
    const before = names.slice(0, index).filter((one) => isTrainJob(jobs[one]));
    const found = before.includes(named) ? jobs[named] : undefined;
    if (!isTrainJob(found)) {
      const known = suggestion(named, before, "Such jobs before it");
      return refused(`“${named}” is not an earlier job that trains`, known || "No job before it trains.");
    }
    if (key === "from" && runsOf(found).length > 1)
      return refused(
        `“${named}” has ${runsOf(found).length} runs, by its matrix`,
        "Name a job with a single run.",
      );
    return [];
  });
}

function reference(job: Job): [string | undefined, string | undefined] {
  if ("train" in job) return ["from", job.from];
  if ("evaluate" in job) return ["evaluate", job.evaluate];
  return "export" in job ? ["export", job.export] : [undefined, undefined];
}

/** Whether a job trains. */
export function isTrainJob(job: Job | undefined): job is TrainJob {
  return job !== undefined && "train" in job;
}
