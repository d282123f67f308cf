import { defined } from "../../../base/records/defined.ts";
import type { JsonObject, JsonValue } from "../../../contracts/json.ts";
import type { Ran } from "../sandbox.ts";

const outcomes = new Set<JsonValue | undefined>([
  "finished",
  "failed",
  "time-limit",
  "memory-limit",
  "output-limit",
  "process-limit",
  "disk-limit",
  "ended",
]);

/**
 * Converts the driver's answer to a program's result. Undefined if it is not one, because a program broke the
 * driver.
 */
export function ranOf(answer: JsonObject | undefined, wasKilled: boolean): Ran | undefined {
  const { outcome, stdout, stderr, value, code, seconds, lost } = answer ?? {};
  if (!isOutcome(outcome) || typeof stdout !== "string" || typeof stderr !== "string") return undefined;
  const isMemory = wasKilled && (outcome === "failed" || outcome === "ended");
  return defined({
    outcome: isMemory ? "memory-limit" : outcome,
    stdout,
    stderr,
    value: typeof value === "string" ? value : undefined,
    exitCode: typeof code === "number" ? code : undefined,
    seconds: Number(seconds),
    lost: lost === true ? "variables" : undefined,
  });
}

function isOutcome(value: JsonValue | undefined): value is Ran["outcome"] {
  return outcomes.has(value);
}
