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
 * The modules that have changed since the plan was made: those of single-file plugins, those that the plugins'
 * configurations name, and the modules that these import.
 */
export function changedSources(plan: Plan): string[] {
  const defining = planPlugins(plan).flatMap(({ source }) => Object.entries(source?.files ?? {}));
  const files = new Map([...defining, ...Object.entries(plan.moduleDigests ?? {})]);
  return [...files].flatMap(([file, digest]) => (digestOf(file) === digest ? [] : [file]));
}
