import { createHash } from "node:crypto";
import { arch, availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/errors/message-of.ts";
import { cacheFolder } from "../../base/files/cache-folder.ts";
import { readRecord, writeWhole } from "../../base/files/whole-files.ts";
import { isObject } from "../../contracts/json.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { MeasuredTimes } from "./measured-times.ts";

/** Times of a pipeline that this machine measured earlier. */
export interface RememberedTimes extends MeasuredTimes {
  by: "probe" | "run";
  /** When they were measured, in ISO 8601. */
  at: string;
}

/** The times of pipelines that this machine measured earlier, in the user's cache. */
export interface TimesMemory {
  /** The times of pipelines whose runs take as long as the plan's; undefined if none was measured. */
  of(plan: Plan): RememberedTimes | undefined;
  /** Keeps new times if they include that of a step. Earlier ones stay where nothing new was measured. */
  keep(plan: Plan, measured: Partial<MeasuredTimes>, by: RememberedTimes["by"]): Promise<void>;
}

/** The number of pipelines to remember. */
const most = 200;

/**
 * Reads the times in the user's cache. A file that cannot be read counts as empty, and one that cannot be written is
 * left out: `note` receives the reason.
 */
export async function timesMemory(note: (text: string) => void): Promise<TimesMemory> {
  const file = join(cacheFolder(), "measured-times.json");
  const read = () => readRecord<unknown>(file);
  const found = await read().catch((error: unknown) => {
    note(`measured times of earlier runs are lost: ${messageOf(error)}`);
  });
  return {
    of: (plan) => timesIn(found, digestOf(plan)),
    keep: async (plan, measured, by) => {
      if (measured.step === undefined) return;
      const digest = digestOf(plan);
      const current = await read().catch(() => undefined); // other commands may have written to it
      const times = { ...timesIn(current, digest), ...measured, by, at: new Date().toISOString() };
      if (!isComplete(times)) return;
      const others = isObject(current) ? Object.entries(current).filter(([key]) => key !== digest) : [];
      const kept = Object.fromEntries([...others, [digest, times]].slice(-most));
      await writeWhole(file, JSON.stringify(kept)).catch((error: unknown) =>
        note(`the measured times were not kept: ${messageOf(error)}`),
      );
    },
  };
}

/** Identifies what determines the times of a run: the machine, and the plan without its length and its outputs. */
function digestOf(plan: Plan): string {
  const {
    pipelineFile,
    name,
    seed,
    steps,
    evaluation,
    checkpoints,
    retention,
    trackers,
    stopIf,
    changes,
    ...rest
  } = plan;
  const machine = [arch(), cpus()[0]?.model, availableParallelism()];
  return createHash("sha256")
    .update(JSON.stringify([machine, rest]))
    .digest("hex");
}

function timesIn(found: unknown, digest: string): RememberedTimes | undefined {
  const times = isObject(found) ? found[digest] : undefined;
  return isComplete(times) ? times : undefined;
}

function isComplete(value: unknown): value is RememberedTimes {
  if (!isObject(value)) return false;
  const { once, untrainedTask, warmStartStep, task, step, measuredSteps, by, at } = value;
  return (
    [once, untrainedTask, warmStartStep, task, step, measuredSteps].every(Number.isFinite) &&
    (by === "probe" || by === "run") &&
    typeof at === "string"
  );
}
