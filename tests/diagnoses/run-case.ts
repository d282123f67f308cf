import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { defined } from "../../src/base/records/defined.ts";
import type { StopCondition } from "../../src/contracts/generated/pipeline.ts";
import type { JsonValue } from "../../src/contracts/json.ts";
import type { Case } from "./case.ts";

const root = join(import.meta.dirname, "..", "..");
const main = join(root, "src", "apps", "cli", "main.ts");

/** How a command ended: the codes of its error, or the conditions that it reported within three steps. */
export interface Ended {
  codes: string[];
  conditions: StopCondition[];
  seconds: number;
  message?: string;
  /** What the command printed. */
  log: string;
}

interface JsonLine {
  run?: string;
  diagnoses?: { condition: StopCondition; step: number }[];
  error?: { code: string; message: string; problems?: { code: string }[] };
}

/** Runs a case's pipeline in the folder `runs` with further changes, which come first. */
export async function runCase(
  { pipeline = "calculator", set }: Case,
  runs: string,
  changes: Record<string, JsonValue> = {},
): Promise<Ended & { run?: string }> {
  const began = performance.now();
  const file = join(root, "pipelines", `${pipeline}.yaml`);
  const sets = Object.entries({ ...changes, ...set }).flatMap(([path, value]) => [
    "--set",
    `${path}=${JSON.stringify(value)}`,
  ]);
  const child = spawn(process.execPath, [main, "run", file, "--runs", runs, "--json", ...sets], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, GOMAXPROCS: "1", NODE_OPTIONS: "--v8-pool-size=1" },
  });
  const [stdout, log] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const line: JsonLine = JSON.parse(stdout.trim().split("\n").at(-1) || "{}");
  const { error, diagnoses = [] } = line;
  const codes = error === undefined ? [] : [error.code, ...(error.problems ?? []).map(({ code }) => code)];
  const conditions = diagnoses.filter(({ step }) => step <= 3).map(({ condition }) => condition);
  const seconds = (performance.now() - began) / 1000;
  return defined({ run: line.run, codes, conditions, message: error?.message, seconds, log });
}

/** Exports the newest policy of a run. */
export async function exportPolicy(run: string, runs: string, target: string): Promise<void> {
  const child = spawn(process.execPath, [main, "export", run, target, "--runs", runs], { stdio: "inherit" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the export of ${run} ended with ${code}`);
}
