import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { StepRecord } from "../contracts/generated/step-record.ts";
import type { Plan } from "../contracts/plan.ts";
import type { EvaluationRecord, RunFile } from "../contracts/run.ts";
import { readLines, readRecord } from "../files/whole-files.ts";
import { openRun } from "../runs/open-runs.ts";
import type { RunFolder } from "../runs/run-folder.ts";
import { type Comparison, compare } from "./comparison.ts";

/** All that a report shows of a run. */
export interface ReportData {
  run: string;
  plan: Plan;
  createdAt: string | undefined;
  steps: StepRecord[];
  /** The run's own evaluations, by policy version. */
  evaluations: EvaluationRecord[];
  /** Evaluations made by `everturn evaluate`. */
  others: EvaluationRecord[];
  /** The first and the last policy that tasks were tried with, where they differ. */
  comparison: Comparison | undefined;
}

/** Reads a run's folder. Throws RUN_NOT_FOUND, RECORD_CORRUPT. */
export async function readReportData(folder: RunFolder): Promise<ReportData> {
  const opened = await openRun(dirname(folder.root), basename(folder.root));
  const { id, plan } = opened;
  const file = await readRecord<RunFile>(folder.run);
  const steps = await readLines<StepRecord>(folder.metrics);
  const all = await readEvaluations(dirname(folder.evaluation("any")));
  const isOwn = ({ name }: EvaluationRecord) => /^evaluation-v\d+$/.test(name);
  const evaluations = all.filter(isOwn).sort((a, b) => a.policyVersion - b.policyVersion);
  const started = evaluations.find((record) => record.policyVersion === startVersion(plan));
  const comparison = await compare(opened, started, evaluations.at(-1));
  const others = all.filter((record) => !isOwn(record));
  return { run: id, plan, createdAt: file?.createdAt, steps, evaluations, others, comparison };
}

/** The policy version that reinforcement learning starts from. */
export function startVersion(plan: Plan): number {
  return plan.warmStart === undefined ? 0 : 1;
}

async function readEvaluations(folder: string): Promise<EvaluationRecord[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json")).sort();
  const records = await Promise.all(names.map((name) => readRecord<EvaluationRecord>(join(folder, name))));
  return records.filter((record) => record !== undefined);
}
