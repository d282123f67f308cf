import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import type { TrackedRun } from "../../../contracts/tracker.ts";
import { deepFreeze } from "../../../plan/pipeline/read/deep-freeze.ts";
import { loadTracker } from "../../../plugin/registry/registry.ts";

/**
 * Sends a tracker the results of two steps of a run. With `killed`, it is then not closed, but opened again, and
 * gets the last step again and one more.
 */
export async function probe(plugin: ResolvedPlugin, asked: JsonObject): Promise<JsonValue> {
  const sessions =
    asked.killed === true
      ? [
          [0, 1],
          [1, 2],
        ]
      : [[0, 1]];
  const tracker = await loadTracker(plugin);
  const config = deepFreeze(structuredClone(plugin.config)); // like the configuration in a plan
  const { signal } = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), "everturn-check-"));
  try {
    for (const [index, numbers] of sessions.entries()) {
      const [logged = 0] = numbers;
      const session = await tracker.open(config, { ...described(folder), logged }, signal);
      for (const number of numbers) await session.log(entryOf(number), signal);
      if (index === sessions.length - 1) await session.close("completed", signal);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { told: sessions.flat().length };
}

function described(folder: string): Omit<TrackedRun, "logged"> {
  const run = `check-${process.pid}`;
  const settings = { name: "check", seed: 1, steps: 2, rollout: { batchSize: 8 } };
  return { run, pipeline: "check", createdAt: new Date().toISOString(), folder, settings };
}

function entryOf(number: number) {
  const values = { "train/rewardMean": number / 10, "train/seconds/total": 1.5 };
  const histograms = { "train/rewards": { limits: [0, 0.5, 1], counts: [3, 1], sum: 1, sumOfSquares: 1 } };
  const columns = ["task", "reward", "solved", "prompt"];
  const tables = { "train/samples": { columns, rows: [["task-00000", 0.5, true, "5 + 3 | `x` 漢"]] } };
  return { number, step: number + 1, at: Date.now(), values, histograms, tables };
}
