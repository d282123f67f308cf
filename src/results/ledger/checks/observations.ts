import { ahead } from "../../../base/async/ahead.ts";
import type { Finding } from "../../../contracts/ledger.ts";
import { objectsAtOnce } from "../../../run/store/at-once.ts";
import type { Store } from "../../../run/store/store.ts";
import type { StageFacts } from "../facts.ts";

/** Checks that the images and full texts exist that the observations of a stage's ended trajectories refer to. */
export async function checkObservations(
  store: Pick<Store, "hasBytes">,
  { trajectories }: Pick<StageFacts, "trajectories">,
): Promise<Finding[]> {
  const named = [...trajectories].flatMap(([trajectory, finished]) =>
    (finished?.bytes ?? []).map((sha256) => ({ trajectory, sha256 })),
  );
  const findings: Finding[] = [];
  const looked = ahead(named, objectsAtOnce, async (one) => ({
    ...one,
    isThere: await store.hasBytes(one.sha256),
  }));
  for await (const { trajectory, sha256, isThere } of looked) {
    if (isThere) continue;
    const problem = `an observation refers to missing bytes: ${sha256}`;
    findings.push({ check: "observation", subject: trajectory, problem });
  }
  return findings;
}
