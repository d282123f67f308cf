import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { Finding } from "../../contracts/ledger.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";
import type { SegmentRef, TokenCounts } from "../../contracts/trajectory.ts";
import { segmentRef } from "../../run/projections/segment-ref.ts";
import { turnKey } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";

/** The description of a chain of segments in a trajectory's record. */
type ChainEnd = Pick<FinishedTrajectory, "head" | "tokens" | "policyVersions">;

/**
 * Checks that a finished trajectory is complete in the store: every turn is readable, its segments have the names
 * that later segments refer to, and its tokens and versions match the record.
 */
export async function checkChain(
  store: Pick<Store, "read">,
  trajectory: string,
  record: ChainEnd,
): Promise<Finding[]> {
  const turns = await turnsOf(store, trajectory, record);
  const problem = typeof turns === "string" ? turns : chainProblem(turns, record);
  return problem === undefined ? [] : [{ check: "segments", subject: trajectory, problem }];
}

/** The turns of a trajectory, or what is wrong with its journal. */
async function turnsOf(
  store: Pick<Store, "read">,
  id: string,
  record: ChainEnd,
): Promise<RecordedTurn[] | string> {
  const place = trajectoryOf(id);
  const turns: RecordedTurn[] = [];
  for (let turn = 1; turn <= record.policyVersions.length; turn++) {
    const recorded = await store.read(turnKey(place, turn));
    if (recorded === undefined) return `turn ${turn} is not in its journal, or can't be read`;
    turns.push(recorded);
    if (segmentRef(recorded.action) !== recorded.head) {
      return `turn ${turn} says that it ends with ${recorded.head}, but its action has another name`;
    }
    if (turn === record.policyVersions.length && recorded.head !== record.head) {
      return `its last turn ends with ${recorded.head}, its record with ${record.head}`;
    }
  }
  return turns;
}

function chainProblem(turns: readonly RecordedTurn[], record: ChainEnd): string | undefined {
  const tokens: TokenCounts = { prompt: 0, action: 0, observation: 0 };
  const heads = new Set<SegmentRef>();
  for (const { appended, action, head } of turns) {
    for (const { origin, tokens: own } of [appended, action]) tokens[origin] += own.length;
    const { previous } = appended;
    if (previous !== null && !heads.has(previous)) return `the segment ${previous} is missing`;
    if (action.previous !== segmentRef(appended)) return `the segment ${action.previous} is missing`;
    heads.add(head);
  }
  for (const origin of ["prompt", "action", "observation"] as const) {
    const { [origin]: recorded } = record.tokens;
    if (tokens[origin] === recorded) continue;
    return `its segments hold ${tokens[origin]} ${origin} tokens, its record says ${recorded}`;
  }
  const versions = turns.map(({ action }) => action.policyVersion).join();
  if (versions === record.policyVersions.join()) return undefined;
  return `its actions are of versions ${versions}, its record says ${record.policyVersions.join()}`;
}
