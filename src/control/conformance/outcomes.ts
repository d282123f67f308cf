import { type EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import type { PluginCheck, PromiseName } from "./promise.ts";

/** The outcome of a checked promise. */
export interface PromiseOutcome {
  promise: PromiseName;
  says: string;
  outcome: "kept" | "broken" | "not checked";
  /** For a broken promise: the observed behavior, and the change to make. */
  seen?: string;
  advice?: string;
}

/**
 * Runs checks one after the other. Those after a failed basis count as not checked. Throws every error that is not a
 * broken promise.
 */
export async function* outcomesOf(checks: readonly PluginCheck[]): AsyncGenerator<PromiseOutcome> {
  let hasBasis = true;
  for (const { promise, says, isBasis, run } of checks) {
    if (!hasBasis) {
      yield { promise, says, outcome: "not checked" };
      continue;
    }
    const error = await run().then(() => undefined, brokenPromise);
    if (error === undefined) yield { promise, says, outcome: "kept" };
    else yield { promise, says, outcome: "broken", seen: String(error.params.seen), advice: error.help };
    hasBasis = error === undefined || !isBasis;
  }
}

function brokenPromise(error: unknown): EverturnError {
  if (isEverturnError(error) && error.code === "PLUGIN_PROMISE_BROKEN") return error;
  throw error;
}
