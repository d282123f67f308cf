import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plan } from "../../contracts/plan.ts";
import { planPlugins } from "../registry/plan-plugins.ts";

/** The SHA-256 of a file. Empty if it can't be read. */
export function digestOf(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "";
  }
}

/**
 * The modules of a plan's single-file plugins, and the modules that these import, that have changed since the
 * plan was made.
 */
export function changedSources(plan: Plan): string[] {
  const files = new Map(planPlugins(plan).flatMap(({ source }) => Object.entries(source?.files ?? {})));
  return [...files].flatMap(([file, digest]) => (digestOf(file) === digest ? [] : [file]));
}
