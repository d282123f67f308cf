import type { FinishedTrajectory } from "../contracts/folded-step.ts";
import type { Segment } from "../contracts/generated/segment.ts";
import type { Finding } from "../contracts/ledger.ts";
import type { TokenCounts } from "../contracts/trajectory.ts";
import { turnKey } from "../store/keys.ts";
import type { Store } from "../store/store.ts";
import { segmentRef } from "../trajectory/segments.ts";
import { trajectoryOf } from "../trajectory/trajectory-of.ts";

/** What a trajectory's record says of its chain of segments. */
type ChainEnd = Pick<FinishedTrajectory, "head" | "tokens" | "policyVersions">;

/**
 * Whether a finished trajectory is whole in the store: every turn can be read, its segments have the names that those
 * after them say, tokens and versions are those of the record.
 */
export async function checkChain(
  store: Pick<Store, "read">,
  trajectory: string,
  record: ChainEnd,
): Promise<Finding[]> {
  const segments = await namedSegments(store, trajectory, record);
  const problem = typeof segments === "string" ? segments : chainProblem(segments, record);
  return problem === undefined ? [] : [{ check: "segments", subject: trajectory, problem }];
}

/** The segments of a trajectory's turns by their names, or what is wrong with its journal. */
async function namedSegments(
  store: Pick<Store, "read">,
  id: string,
  record: ChainEnd,
): Promise<Map<string, Segment> | string> {
  const place = trajectoryOf(id);
  const segments = new Map<string, Segment>();
  for (let turn = 1; turn <= record.policyVersions.length; turn++) {
    const recorded = await store.read(turnKey(place, turn));
    if (recorded === undefined) return `turn ${turn} is not in its journal, or can't be read`;
    for (const segment of [recorded.appended, recorded.action]) segments.set(segmentRef(segment), segment);
    if (segmentRef(recorded.action) !== recorded.head) {
      return `turn ${turn} says that it ends with ${recorded.head}, but its action has another name`;
    }
    if (turn === record.policyVersions.length && recorded.head !== record.head) {
      return `its last turn ends with ${recorded.head}, its record with ${record.head}`;
    }
  }
  return segments;
}

function chainProblem(segments: ReadonlyMap<string, Segment>, record: ChainEnd): string | undefined {
  const tokens: TokenCounts = { prompt: 0, action: 0, observation: 0 };
  const versions: (number | undefined)[] = [];
  for (let ref = record.head; ref !== null; ) {
    const segment = segments.get(ref);
    if (segment === undefined) return `the segment ${ref} is missing`;
    tokens[segment.origin] += segment.tokens.length;
    if (segment.origin === "action") versions.unshift(segment.policyVersion);
    ref = segment.previous;
  }
  for (const origin of ["prompt", "action", "observation"] as const) {
    const { [origin]: recorded } = record.tokens;
    if (tokens[origin] === recorded) continue;
    return `its segments hold ${tokens[origin]} ${origin} tokens, its record says ${recorded}`;
  }
  if (versions.join() === record.policyVersions.join()) return undefined;
  return `its actions are of versions ${versions.join()}, its record says ${record.policyVersions.join()}`;
}
