import { isDeepStrictEqual } from "node:util";
import { sharedPromises } from "../../base/async/shared-promises.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { observationBytes } from "../../run/projections/observation-bytes.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import { openRunStore } from "../../run/store/open-run-store.ts";
import type { Store } from "../../run/store/store.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";
import { readTurns } from "../../run/trajectory/turn-journal.ts";
import { type Answered, isAnswered, type Position, recordedCalls } from "./recorded-calls.ts";

/** A call to answer from an earlier run. */
export interface RecordingQuery extends Position {
  place: TrajectoryName;
  task: Task;
  tool: string;
  arguments: JsonObject;
  /** The store of the calling run. */
  store: Pick<Store, "read" | "bytes">;
}

interface Recording {
  place: TrajectoryName;
  task: Task;
  calls: Answered[];
}

/**
 * Answers tool calls from the journals of the earlier run in the folder `recordings`. The k-th call of a
 * trajectory with the same arguments gets the answer of the k-th such call in a finished trajectory of the
 * same task (row and content). The same stage and sample take precedence, followed by the recorded order.
 * Throws TOOL_NOT_RECORDED.
 */
export function openRecordings(recordings: string): (asked: RecordingQuery) => Promise<Answered> {
  const recordedStore = openRunStore(recordings);
  const reader = trajectoryReader({ store: recordedStore });
  const tasks = sharedPromises<Recording[]>();
  const listed = sharedPromises<ReadonlyMap<string, TrajectoryName[]>>();

  /** The names by task. The run is listed once. */
  async function list(): Promise<ReadonlyMap<string, TrajectoryName[]>> {
    const byTask = new Map<string, TrajectoryName[]>();
    for await (const { items } of reader.stages()) {
      for (const name of items) byTask.set(name.task, [...(byTask.get(name.task) ?? []), name]);
    }
    return byTask;
  }

  async function read(task: string): Promise<Recording[]> {
    const trajectories: Recording[] = [];
    for (const place of (await listed.get("all", list)).get(task) ?? []) {
      const record = await readTrajectoryRecord(reader, place);
      if (record === undefined) continue;
      const { turns } = record;
      const { toolCalls = [], unanswered = 0 } = turns.at(-1) ?? {};
      const ended = { turns: turns.length, calls: toolCalls.length + unanswered };
      const calls = (await readTurns(reader, place, ended)).flatMap((turn) => turn.calls);
      trajectories.push({ place, task: record.task, calls: calls.filter(isAnswered) });
    }
    return trajectories;
  }

  /** Copies the bytes that a call refers to, and the state it left, into the calling run's store. */
  async function copyBytes(call: Answered, { store }: RecordingQuery): Promise<void> {
    const { snapshot } = call;
    for (const sha256 of [...observationBytes(call), ...(snapshot === undefined ? [] : [snapshot])]) {
      const bytes = await recordedStore.readBytes(sha256);
      if (bytes === undefined) {
        const params = { file: `bytes ${sha256} of ${recordings}`, reason: "they are gone, or changed" };
        throw new EverturnError("RECORD_CORRUPT", params);
      }
      await store.bytes(bytes);
    }
  }

  return async (asked) => {
    const isSame = (call: Answered) =>
      call.tool === asked.tool && isDeepStrictEqual(call.arguments, asked.arguments);
    const { place, turn } = asked;
    const earlier = await recordedCalls(asked.store, place, { turn, call: 0 });
    const before = earlier.filter(({ recorded }) => isSame(recorded)).length;
    const ofRow = await tasks.get(place.task, () => read(place.task));
    const trajectories = ofRow.filter(({ task }) => isDeepStrictEqual(task, asked.task));
    const isOwn = (one: Recording) => one.place.stage === place.stage && one.place.sample === place.sample;
    const ordered = [...trajectories.filter(isOwn), ...trajectories.filter((one) => !isOwn(one))];
    for (const { calls } of ordered) {
      const found = calls.filter(isSame)[before];
      if (found === undefined) continue;
      await copyBytes(found, asked);
      return found;
    }
    throw new EverturnError("TOOL_NOT_RECORDED", {
      recordings,
      tool: asked.tool,
      task: place.task,
      occurrence: before + 1,
      arguments: JSON.stringify(asked.arguments),
    });
  };
}
