import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import { detailSoFar, recordDetail, type TrajectoryDetail } from "../../run/projections/trajectory-detail.ts";
import { turnResult } from "../../run/projections/turn-result.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { readRows, recordedTurns } from "../../run/trajectory/segments.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { readTurns } from "../../run/trajectory/turn-journal.ts";

/** Reads everything recorded about a trajectory: its record, its turns' own files and its segments. */
export async function readTrajectory(
  store: Pick<Store, "read">,
  name: TrajectoryName & { id: string },
): Promise<TrajectoryDetail> {
  const { id } = name;
  const record = await readTrajectoryRecord(store, name);
  if (record === undefined) {
    const entries = await readTurns(store, name);
    const head = entries.at(-1)?.generated.head ?? null;
    return detailSoFar(id, entries, await segmentsOf(store, name, head));
  }
  const results: GenerateTurnResult[] = [];
  for await (const recorded of recordedTurns(store, name)) results.push(turnResult(recorded));
  return recordDetail(id, record, results, await segmentsOf(store, name, record.head));
}

async function segmentsOf(...trajectory: Parameters<typeof readRows>): Promise<Segment[]> {
  return (await readRows(...trajectory)).rows.flat();
}
