import { createHash } from "node:crypto";
import type { SamplingKey } from "../../contracts/policy.ts";

/** The seed that a server is told for a sample, of 31 bits: the same key is the same seed. */
export function seedOf({ seed, trajectory, turn }: SamplingKey): number {
  const digest = createHash("sha256")
    .update(JSON.stringify([seed, trajectory, turn]))
    .digest();
  return digest.readUInt32BE() >>> 1;
}
