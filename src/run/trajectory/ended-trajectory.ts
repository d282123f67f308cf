import type { EndedTrajectory, Lost } from "../../contracts/activities.ts";
import { type Ended, endedTurns } from "../projections/ended-turns.ts";
import { totalTokens } from "../projections/turn-result.ts";
import type { Store } from "../store/store.ts";
import { readTurns, recordRefused } from "./turn-journal.ts";

/** The progress of a trajectory according to its journal. */
export async function foundInJournal(store: Pick<Store, "read">, lost: Lost): Promise<EndedTrajectory> {
  const entries = await readTurns(store, lost.place);
  const generated = entries.map((entry) => entry.generated);
  return {
    ...lost,
    turns: generated.length,
    calls: entries.at(-1)?.begun ?? 0,
    head: generated.at(-1)?.head ?? null,
    tokens: totalTokens(generated),
  };
}

/** Reads the turns of an ended trajectory from its journal, after adding missing records. */
export async function readEnded(
  store: Pick<Store, "read" | "record">,
  ended: EndedTrajectory,
): Promise<Ended> {
  const { place, turns, calls } = ended;
  await recordRefused(store, place, ended.refused);
  return endedTurns(await readTurns(store, place, { turns, calls }));
}
