import { createHash } from "node:crypto";
import type { JsonObject, TrackedEntry, TrackedRun, TrackedTable, TrackerPlugin } from "everturn/plugin";
import { wandbAt } from "./protocol.ts";

interface Config {
  url: string;
  entity?: string;
  project?: string;
  key: string;
  tables?: boolean;
}

/**
 * Tracks each run as a run of Weights & Biases (config: `url`, `entity`, `project`, `key`,
 * `tables`), with its settings, and a history by step.
 */
const wandb: TrackerPlugin<Config> = {
  async open({ url, entity, project, key, tables: withTables = true }, run, signal) {
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
    let summary: JsonObject = {};
    return {
      async log(entry, own) {
        const line = lineOf(entry, began);
        const uploaded: string[] = [];
        for (const [name, table] of Object.entries((withTables && entry.tables) || {})) {
          const { media, content } = tableFile(name, entry.number, table);
          await server.upload(bucket, media.path, content, own);
          uploaded.push(media.path);
          line[name] = media;
        }
        const next = { ...summary, ...line };
        const files = {
          // The entry's number is its position, so an entry that is sent again replaces itself.
          "wandb-history.jsonl": { offset: entry.number, content: [JSON.stringify(line)] },
          "wandb-summary.json": { offset: 0, content: [JSON.stringify(next)] },
        };
        await server.stream(bucket, uploaded.length === 0 ? { files } : { files, uploaded }, own);
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

/** The entry's line of the history. A histogram has the form of W&B's own. */
function lineOf({ number, step, at, values, histograms = {} }: TrackedEntry, began: number): JsonObject {
  const distributions = Object.entries(histograms).map(
    ([name, { limits, counts }]) => [name, { _type: "histogram", values: counts, bins: limits }] as const,
  );
  return {
    ...values,
    ...Object.fromEntries(distributions),
    step,
    _step: number,
    _timestamp: at / 1000,
    _runtime: (at - began) / 1000,
  };
}

/** A table as a file of the run, and the value in the history that refers to it. */
function tableFile(name: string, number: number, { columns, rows }: TrackedTable) {
  const content = JSON.stringify({ columns, data: rows });
  const sha256 = createHash("sha256").update(content).digest("hex");
  const media = {
    _type: "table-file",
    sha256,
    size: Buffer.byteLength(content),
    path: `media/table/${name}_${number}_${sha256.slice(0, 20)}.table.json`,
    ncols: columns.length,
    nrows: rows.length,
    log_mode: "IMMUTABLE",
  };
  return { media, content };
}
