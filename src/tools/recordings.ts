import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Task } from "../contracts/generated/task.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";
import type { JsonObject } from "../contracts/json.ts";
import type { TrajectoryPlace } from "../contracts/trajectory.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { readRecord } from "../files/whole-files.ts";
import { sharedPromises } from "../promises/shared-promises.ts";
import { type CallPlace, type RecordedCall, recordedCalls } from "./recorded-calls.ts";

/** A call to be answered from an earlier run. */
export interface AskedCall extends CallPlace {
  place: Pick<TrajectoryPlace, "stage" | "task" | "sample">;
  task: Task;
  tool: string;
  arguments: JsonObject;
  /** The journal's folder of the trajectory that calls. */
  journal: string;
}

interface RecordedTrajectory {
  stage: string;
  sample: string;
  task: Task;
  calls: RecordedCall[];
}

/**
 * Answers tool calls from the journals of the earlier run in the folder `recordings`: the k-th call of a trajectory
 * with these arguments gets what the k-th such call of a finished trajectory of the same task (row and content) got.
 * The same stage and sample goes first, then the recorded order. Throws TOOL_NOT_RECORDED.
 */
export function openRecordings(recordings: string): (asked: AskedCall) => Promise<RecordedCall> {
  const tasks = sharedPromises<RecordedTrajectory[]>();

  async function read(task: string): Promise<RecordedTrajectory[]> {
    const trajectories: RecordedTrajectory[] = [];
    const root = join(recordings, "trajectories");
    for (const stage of await namesIn(root)) {
      for (const sample of await namesIn(join(root, stage, task))) {
        const folder = join(root, stage, task, sample);
        const record = await readRecord<TrajectoryRecord>(join(folder, "trajectory.json"));
        if (record === undefined) continue;
        const calls = await recordedCalls(folder);
        trajectories.push({ stage, sample, task: record.task, calls: calls.map(({ recorded }) => recorded) });
      }
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
    const isOwn = ({ stage, sample }: RecordedTrajectory) =>
      stage === place.stage && sample === String(place.sample);
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

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []); // a stage without the task
  return names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
