import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defined } from "../../src/base/records/defined.ts";
import type { Scenario } from "./scenarios.ts";

const pipelines = {
  usual: join(import.meta.dirname, "pipeline.yaml"),
  sandboxes: join(import.meta.dirname, "sandboxes.yaml"),
  images: join(import.meta.dirname, "images.yaml"),
};

/** What a chaos run is started with. */
export interface RunOptions {
  /** Where the side effects of its parts are logged. */
  work: string;
  /** Folder of the runs; undefined if they are in the store of the command's environment. */
  runs?: string;
  seed: number;
  steps: number;
  hostUrl: string;
  /** Whether generations and calls take a while, so that they can be struck under way. */
  pauses: boolean;
  /** Folder of an agent loop in place of the pipeline's. */
  loop?: string;
}

/** `everturn run` and its parameters for a scenario. */
export function runParameters({ settings, separate, pipeline }: Scenario, options: RunOptions): string[] {
  const { work, runs, seed, steps, hostUrl, pauses, loop } = options;
  const calls = join(work, "calls.jsonl");
  const all = defined<object>({
    seed,
    steps,
    "policy.config.log": join(work, "generations.jsonl"),
    "policy.config.pause": pauses ? 250 : 0,
    "tools.0.config.log": calls,
    "tools.0.config.pause": pauses ? 80 : 0,
    "tools.1.config.url": hostUrl,
    ...ownParameters(pipeline, work, calls),
    "loop.plugin": loop,
    ...settings,
  });
  const set = Object.entries(all).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  return [
    "run",
    pipelines[pipeline],
    ...(runs === undefined ? [] : ["--runs", runs]),
    ...(separate ? ["--workers", "separate"] : []),
    ...set,
  ];
}

function ownParameters(pipeline: Scenario["pipeline"], work: string, calls: string): object {
  switch (pipeline) {
    case "usual":
      return {
        "tools.2.config.log": join(work, "sessions.log"),
        "tools.2.config.calls": calls,
        "tools.3.config.log": calls,
      };
    case "sandboxes":
      return { "tools.3.config.database": turnsDatabase(work) };
    case "images":
      return {};
  }
}

/** A database of one number, 0, of which each trajectory has a copy. */
function turnsDatabase(work: string): string {
  const path = join(work, "turns.sqlite");
  if (existsSync(path)) return path;
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE turns (turns INTEGER); INSERT INTO turns VALUES (0)");
  database.close();
  return path;
}
