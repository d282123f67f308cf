import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plan } from "../../contracts/plan.ts";
import { planPlugins } from "../registry/plan-plugins.ts";

/** SHA-256 of a file; empty if it can't be read. */
export function digestOf(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "";
  }
}

/** The modules of a plan's plugins in one file, and what these import, that are not what they were when it was made. */
export function changedSources(plan: Plan): string[] {
  const files = new Map(planPlugins(plan).flatMap(({ source }) => Object.entries(source?.files ?? {})));
  return [...files].flatMap(([file, digest]) => (digestOf(file) === digest ? [] : [file]));
}
