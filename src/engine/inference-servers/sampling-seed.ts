import { createHash } from "node:crypto";
import type { SamplingKey } from "../../contracts/policy.ts";

/** Returns the 31-bit seed of a sample for a server. Equal keys have equal seeds. */
export function seedOf({ seed, trajectory, turn }: SamplingKey): number {
  const digest = createHash("sha256")
    .update(JSON.stringify([seed, trajectory, turn]))
    .digest();
  return digest.readUInt32BE() >>> 1;
}
