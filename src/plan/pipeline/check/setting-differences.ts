import type { JsonValue } from "../../../contracts/json.ts";
import type { PlanChange } from "../../../contracts/plan.ts";
import { parseDuration } from "../read/duration.ts";

/** The differences between two plans in the form of pipelines, by dotted key. */
export function differences(from: unknown, to: unknown, path = ""): PlanChange["changed"] {
  if (isMapping(from) && isMapping(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.flatMap((key) => differences(from[key], to[key], path === "" ? key : `${path}.${key}`));
  }
  if (textOf(from) === textOf(to)) return [];
  return [{ key: path, from: jsonOf(from), to: jsonOf(to) }];
}

/** 10s and 10000ms are the same. */
function textOf(value: unknown): string | undefined {
  const duration = typeof value === "string" ? parseDuration(value) : Number.NaN;
  return Number.isNaN(duration) ? JSON.stringify(value) : `${duration} ms`;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function jsonOf(value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
