import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Task } from "../contracts/generated/task.ts";
import type { JsonObject } from "../contracts/json.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { sharedPromises } from "../promises/shared-promises.ts";
import type { TrajectoryName } from "../store/keys.ts";
import { openRunStore } from "../store/open-run-store.ts";
import { listTrajectories, readTrajectoryRecord } from "../trajectory/trajectory-files.ts";
import { type CallPlace, type RecordedCall, recordedCalls } from "./recorded-calls.ts";

/** A call to be answered from an earlier run. */
export interface AskedCall extends CallPlace {
  place: TrajectoryName;
  task: Task;
  tool: string;
  arguments: JsonObject;
  /** The journal's folder of the trajectory that calls. */
  journal: string;
}

interface RecordedTrajectory {
  place: TrajectoryName;
  task: Task;
  calls: RecordedCall[];
}

/**
 * Answers tool calls from the journals of the earlier run in the folder `recordings`: the k-th call of a trajectory
 * with these arguments gets what the k-th such call of a finished trajectory of the same task (row and content) got.
 * The same stage and sample goes first, then the recorded order. Throws TOOL_NOT_RECORDED.
 */
export function openRecordings(recordings: string): (asked: AskedCall) => Promise<RecordedCall> {
  const store = openRunStore(recordings);
  const tasks = sharedPromises<RecordedTrajectory[]>();

  async function read(task: string): Promise<RecordedTrajectory[]> {
    const trajectories: RecordedTrajectory[] = [];
    for (const place of await listTrajectories({ root: recordings }, { task })) {
      const record = await readTrajectoryRecord(store, place);
      if (record === undefined) continue;
      const { stage, sample } = place;
      const calls = await recordedCalls(join(recordings, "trajectories", stage, task, String(sample)));
      trajectories.push({ place, task: record.task, calls: calls.map(({ recorded }) => recorded) });
    }
    return trajectories;
  }

  return async (asked) => {
    const isSame = (call: RecordedCall) =>
      call.tool === asked.tool && isDeepStrictEqual(call.arguments, asked.arguments);
    const earlier = await recordedCalls(asked.journal);
    const before = earlier.filter(({ turn, recorded }) => turn < asked.turn && isSame(recorded)).length;
    const { place } = asked;
    const ofRow = await tasks.get(place.task, () => read(place.task));
    const trajectories = ofRow.filter(({ task }) => isDeepStrictEqual(task, asked.task));
    const isOwn = (one: RecordedTrajectory) =>
      one.place.stage === place.stage && one.place.sample === place.sample;
    const ordered = [...trajectories.filter(isOwn), ...trajectories.filter((one) => !isOwn(one))];
    for (const { calls } of ordered) {
      const found = calls.filter(isSame)[before];
      if (found !== undefined) return found;
    }
    throw new EverturnError("TOOL_NOT_RECORDED", {
      ...{ recordings, tool: asked.tool, task: place.task, occurrence: before + 1 },
      arguments: JSON.stringify(asked.arguments),
    });
  };
}
