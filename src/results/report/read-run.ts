import { dirname } from "node:path";
import { imageHeader } from "../../chat/images/image-header.ts";
import type { StepRecord } from "../../contracts/generated/step-record.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { otherEvaluations, ownEvaluations } from "../../run/folder/evaluations.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { recordedSteps } from "../../run/folder/recorded-steps.ts";
import { readRunFile } from "../../run/folder/run-file.ts";
import type { Store } from "../../run/store/store.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { type Comparison, compare, type Pair } from "./comparison.ts";

/** A run's plan, steps and evaluations. */
export interface RunData {
  run: string;
  plan: Plan;
  createdAt: string;
  steps: StepRecord[];
  /** The run's own evaluations, by policy version. */
  evaluations: EvaluationRecord[];
}

/** All data that a report shows. */
export interface ReportData extends RunData {
  /** Evaluations made by `everturn evaluate`. */
  others: EvaluationRecord[];
  /** The first and the last policy that was evaluated, if they differ. */
  comparison: Comparison | undefined;
  /** Images of its examples, as data URLs by their SHA-256. */
  images: ReadonlyMap<string, string>;
}

/** Reads the records of a run's steps and of its own evaluations. */
export async function readRunData(run: OpenRun): Promise<RunData> {
  const { id, folder, plan, store } = run;
  const { createdAt } = await readRunFile(dirname(folder.root), id, () => {}); // reported when the run was opened
  const steps = await recordedSteps(store);
  const evaluations = await ownEvaluations(run, steps.at(-1)?.policyVersion ?? firstVersion(plan));
  return { run: id, plan, createdAt, steps, evaluations };
}

/** Reads a run's records for its report. */
export async function readReportData(run: OpenRun): Promise<ReportData> {
  const { plan, store } = run;
  const data = await readRunData(run);
  const { evaluations } = data;
  const started = evaluations.find((record) => record.policyVersion === firstVersion(plan));
  const comparison = await compare(trajectoryReader(run), started, evaluations.at(-1));
  const others = await otherEvaluations(run, evaluations);
  const images = await exampleImages(store, comparison);
  return { ...data, others, comparison, images };
}

/** The most bytes of an image in the report, and of all its images together. */
const largestImage = 256 * 1024;
const allImages = 4 * 1024 * 1024;

/**
 * The images in the examples' prompts and observations that fit the report, as data URLs by their SHA-256. A video is
 * represented by its first frame.
 */
async function exampleImages(
  store: Pick<Store, "readBytes">,
  comparison: Comparison | undefined,
): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>();
  let room = allImages;
  for (const sha256 of new Set((comparison?.examples ?? []).flatMap(imagesOf))) {
    const content = await store.readBytes(sha256);
    if (content === undefined) continue; // only its name is shown; the ledger reports its loss
    const { mediaType } = imageHeader(content);
    if (mediaType === undefined || content.length > Math.min(largestImage, room)) continue;
    images.set(sha256, `data:${mediaType};base64,${Buffer.from(content).toString("base64")}`);
    room -= content.length;
  }
  return images;
}

/** The images of the prompt, followed by those of observations. */
function imagesOf({ prompt, before, after }: Pair): string[] {
  const seen = prompt.flatMap(({ parts }) =>
    parts.flatMap((part) => ("sha256" in part ? [part.sha256] : [])),
  );
  const calls = [before, after].flatMap(({ turns }) => turns.flatMap(({ toolCalls }) => toolCalls));
  const made = calls.flatMap(({ media = [] }) => media.flatMap(({ frames }) => frames.slice(0, 1)));
  return [...seen, ...made.map(({ sha256 }) => sha256)];
}
