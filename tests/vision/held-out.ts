import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EvaluationRecord, TrainingResult } from "../../src/contracts/run.ts";
import { everturn, lastLine } from "../support/command.ts";

/** The shares of held-out tasks that pipelines/look.yaml solves. */
export interface HeldOut {
  warmStart: number | null;
  /** After reinforcement learning. */
  after: number;
  /** The same policy without its tool. */
  withoutTool: number;
}

/** Runs pipelines/look.yaml, and evaluates its last policy without the tool. */
export async function heldOut(): Promise<HeldOut> {
  const runs = mkdtempSync(join(tmpdir(), "everturn-look-"));
  const pipeline = join(import.meta.dirname, "..", "..", "pipelines", "look.yaml");
  const trained = await printed<TrainingResult>("run", pipeline, "--runs", runs, "--json");
  const evaluated = ["evaluate", trained.run, "--runs", runs, "--no-tools", "--json"];
  const { accuracy } = await printed<EvaluationRecord>(...evaluated);
  rmSync(runs, { recursive: true, force: true });
  return {
    warmStart: trained.accuracyWarmStart,
    after: trained.accuracyAfter,
    withoutTool: accuracy,
  };
}

async function printed<T>(...parameters: string[]): Promise<T> {
  const { code, stdout, stderr } = await everturn(...parameters);
  if (code !== 0) throw new Error(`everturn ${parameters.join(" ")} ended with ${code}:\n${stderr}`);
  return lastLine<T>(stdout);
}
