import type { RecordedResult } from "../../contracts/reward.ts";
import type { KeptResult } from "../../contracts/session.ts";
import { agentCallsRow, type TrajectoryName } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";

/** The calls of an agent's functions whose results are recorded, in the order in which they ended. */
export async function endedCalls(store: Pick<Store, "read">, of: TrajectoryName): Promise<KeptResult[]> {
  const row = agentCallsRow(of);
  const ended: KeptResult[] = [];
  for (;;) {
    const record = await store.read(row(ended.length + 1));
    if (record === undefined) return ended;
    ended.push(record);
  }
}

/** The recorded results of an agent's functions, as a reward receives them. */
export async function recordedResults(
  store: Pick<Store, "read">,
  of: TrajectoryName,
): Promise<RecordedResult[]> {
  return (await endedCalls(store, of)).flatMap(({ name, arguments: given, outcome }) =>
    "error" in outcome ? [] : [{ name, arguments: given, result: outcome.result ?? null }],
  );
}
