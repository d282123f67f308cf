import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { JsonValue } from "../../contracts/json.ts";
import type { Plan } from "../../contracts/plan.ts";
import { planPlugins } from "../registry/plan-plugins.ts";
import { digestOf } from "./digest.ts";

const isModule = /\.[cm]?[jt]sx?$/;

/**
 * The SHA-256 of the modules that the configurations of a plan's plugins name, such as loop-agent's `module`, and of
 * the modules that these import by relative paths, by absolute path.
 */
export function configModules(plan: Plan): Record<string, string> {
  const found = new Set<string>();
  const visit = (file: string) => {
    if (found.has(file) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return;
    found.add(file);
    for (const path of importedPaths(readFileSync(file, "utf8"))) visit(resolve(dirname(file), path));
  };
  const named = planPlugins(plan).flatMap(({ config }) => textsIn(config));
  for (const text of named) if (isAbsolute(text) && isModule.test(text)) visit(text);
  return Object.fromEntries([...found].map((file) => [file, digestOf(file)]));
}

function importedPaths(source: string): string[] {
  const imports = source.matchAll(/\b(?:from|import|require)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g);
  return [...imports].map(([, path = ""]) => path);
}

function textsIn(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
