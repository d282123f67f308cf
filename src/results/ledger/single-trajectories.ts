import type { FinishedTrajectory } from "../../contracts/folded-step.ts";
import type { Finding } from "../../contracts/ledger.ts";
import { trajectoryId } from "../../contracts/trajectory-id.ts";
import { finishedTrajectory } from "../../run/projections/finished-trajectory.ts";
import type { Key } from "../../run/store/key.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import type { Corrupt, Scanned, Store } from "../../run/store/store.ts";
import { trajectoriesPrefix, trajectoryIn } from "../../run/trajectory/listed-trajectories.ts";
import type { RecordReader } from "../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { checkChain } from "./check-chain.ts";

/** A trajectory with its single records, each read once. */
export interface Single {
  stage: string;
  /** Undefined if the keys contain a cut name. The trajectory can then only be found by its name. */
  name: TrajectoryName | undefined;
  /** Undefined while it is in progress. */
  finished: FinishedTrajectory | undefined;
  /** Its unreadable records. */
  corrupt: Corrupt[];
  /** Problems with its segments. */
  findings: Finding[];
}

/**
 * Reads all single records of a run's trajectories, or of one stage's, in the order of their keys, and checks each
 * trajectory. It holds one at a time. Single records of a trajectory in its step's file don't count, unless the file
 * is broken (`unfolded`).
 */
export async function* singleTrajectories(
  { id: run, store }: { id: string; store: Pick<Store, "scan"> },
  reader: Pick<RecordReader, "read" | "foldedIn">,
  { stage: wanted, unfolded }: { stage: string | undefined; unfolded: ReadonlySet<number> },
): AsyncGenerator<Single> {
  for await (const records of byTrajectory(store.scan(trajectoriesPrefix({ stage: wanted })))) {
    const { stage = "", name, prefix = "" } = trajectoryIn(records[0]?.path ?? "") ?? {};
    const corrupt = records.flatMap((one) => one.corrupt);
    const single = { stage, name, finished: undefined, corrupt, findings: [] };
    const step = await reader.foldedIn(prefix);
    if (step !== undefined && !unfolded.has(step)) {
      const inFile = (reason: string) => `${reason}; its step's file has it`;
      yield {
        ...single,
        corrupt: corrupt.map((one) => ({ ...one, reason: inFile(one.reason), isReplaced: true })),
      };
      continue;
    }
    if (name === undefined || step !== undefined) {
      yield single;
      continue;
    }
    const values = new Map(records.map(({ path, value }) => [path, value]));
    /** The record found, else the reader's: a listing may lag, and a broken record may have been replaced. */
    const read = async <Value>({ path }: Key<Value>): Promise<Value | undefined> => {
      const found = values.get(path);
      return found === undefined ? reader.read<Value>({ path }) : found();
    };
    const record = await readTrajectoryRecord({ read }, name);
    const finished = record === undefined ? undefined : finishedTrajectory(record);
    yield { ...single, finished, findings: await chainFindings({ read }, run, name, finished) };
  }
}

/** Problems with the segments of a trajectory, if it has ended and was not left out. */
export async function chainFindings(
  store: Pick<Store, "read">,
  run: string,
  name: TrajectoryName,
  finished: FinishedTrajectory | undefined,
): Promise<Finding[]> {
  if (finished === undefined || finished.outcome === "left-out") return [];
  return checkChain(store, trajectoryId({ ...name, run }), finished);
}

/** Groups the consecutive records of each trajectory. */
async function* byTrajectory(scanned: AsyncIterable<Scanned>): AsyncGenerator<Scanned[]> {
  let records: Scanned[] = [];
  let prefix = "";
  for await (const record of scanned) {
    if (records.length > 0 && !record.path.startsWith(prefix)) {
      yield records;
      records = [];
    }
    if (records.length === 0) prefix = trajectoryIn(record.path)?.prefix ?? record.path;
    records.push(record);
  }
  if (records.length > 0) yield records;
}
