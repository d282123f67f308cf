import type { TrackedEntry, TrackedRun, TrackerPlugin } from "everturn/plugin";
import { wandbAt } from "./protocol.ts";

interface Config {
  url: string;
  entity?: string;
  project?: string;
  key: string;
}

/**
 * Tracks each run as a run of Weights & Biases (config: `url`, `entity`, `project`, `key`), with its
 * settings, and a history by step.
 */
const wandb: TrackerPlugin<Config> = {
  async open({ url, entity, project, key }, run, signal) {
    const secret = process.env[key];
    if (secret === undefined || secret === "")
      throw new Error(`the environment variable ${key}, which has W&B's API key, is not set`);
    const server = wandbAt(url, secret);
    const bucket = await server.upsert(
      {
        name: run.run,
        displayName: run.run,
        project: project ?? run.pipeline,
        entity: entity ?? null,
        config: configOf(run),
        tags: ["everturn"],
      },
      signal,
    );
    const began = Date.parse(run.createdAt);
    let summary: Record<string, number> = {};
    return {
      async log(entry, own) {
        const line = lineOf(entry, began);
        const next = { ...summary, ...line };
        const files = {
          // The entry's number is its position, so an entry that is sent again replaces itself.
          "wandb-history.jsonl": { offset: entry.number, content: [JSON.stringify(line)] },
          "wandb-summary.json": { offset: 0, content: [JSON.stringify(next)] },
        };
        await server.stream(bucket, { files }, own);
        summary = next;
      },
      async close(ending, own) {
        await server.stream(bucket, { complete: true, exitcode: ending === "completed" ? 0 : 1 }, own);
      },
    };
  },
};

export default wandb;

/** Settings in W&B's form, each under `value`. */
function configOf({ settings }: TrackedRun): string {
  return JSON.stringify(Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, { value }])));
}

function lineOf({ number, step, at, values }: TrackedEntry, began: number): Record<string, number> {
  return { ...values, step, _step: number, _timestamp: at / 1000, _runtime: (at - began) / 1000 };
}
