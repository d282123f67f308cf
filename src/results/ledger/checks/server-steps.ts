import type { Finding } from "../../../contracts/ledger.ts";
import type { ServerStep } from "../../../contracts/trainer.ts";

/** A version that a training server made. */
export interface ServedVersion extends ServerStep {
  version: number;
  /** The step that made it. Absent for the warm start's. */
  step?: number;
}

/**
 * Checks that each version was trained from the one before it: in the same model with the next numbers, or in a new
 * model that was loaded from its checkpoint.
 */
export function checkServerSteps(versions: readonly ServedVersion[]): Finding[] {
  return versions.flatMap((one) => {
    const before = versions.find(({ version }) => version === one.version - 1);
    const problem = before && problemOf(before, one);
    return problem === undefined
      ? []
      : [{ check: "server-step", subject: `version ${one.version}`, problem }];
  });
}

function problemOf(before: ServedVersion, one: ServedVersion): string | undefined {
  const { model, requests, loaded } = one;
  if (requests.last < requests.first)
    return `its requests end with ${requests.last}, before ${requests.first}`;
  if (model === before.model && one.url === before.url) {
    const next = before.requests.last + 1;
    if (requests.first === next) return undefined;
    return `its requests in ${model} begin with ${requests.first}, not with ${next}`;
  }
  if (requests.first !== 1) return `its requests in the new model ${model} begin with ${requests.first}`;
  if (loaded === before.checkpoint) return undefined;
  return `${model} was loaded from ${loaded ?? "the base weights"}, not from ${before.checkpoint}`;
}
