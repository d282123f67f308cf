import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine, start } from "../support/command.ts";
import { groupMemory } from "./group-memory.ts";
import { writeSmolvlm } from "./write-smolvlm.ts";

// GRPO steps of pipelines/smolvlm-chartqa.yaml at SmolVLM-256M's full shape, with random weights and few images of
// pipelines/zoom, whose longer sides become 512 pixels: a run by hand, of minutes and gigabytes.
// node tests/shapes/smolvlm-steps.ts [--steps 3] [--side 512] [--folder FOLDER] [--set key=value]…
const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "3" },
    side: { type: "string", default: "512" },
    folder: { type: "string", default: tmpdir() },
    set: { type: "string", multiple: true, default: [] },
  },
});
const root = join(import.meta.dirname, "../..");
const pipeline = join(root, "pipelines/smolvlm-chartqa.yaml");
const work = await mkdtemp(join(values.folder, "everturn-smolvlm-"));
try {
  const [model, rows, runs] = ["model", "rows.parquet", "runs"].map((name) => join(work, name));
  await mkdir(runs!);
  await writeSmolvlm(model!, Number(values.side));
  await writeRows(rows!);
  const settings = [
    `policy.config.model=${model}`,
    ...["train", "validation"].map((set) => `dataset.${set}.config.path=${rows}`),
    "dataset.validation.config.limit=2",
    `steps=${values.steps}`,
    "rollout.batchSize=8",
    "rollout.groupSize=4",
    "rollout.concurrency=8",
    "trainer.config.minibatchSize=8",
    "trainer.config.leaveOutUniformGroups=false",
    "trainer.config.warmupSteps=0",
    'reward={ plugin: "../tests/plugins/reward-latin" }',
    "evaluation.every=0",
    ...values.set,
  ].flatMap((one) => ["--set", one]);
  const planned = await everturn("explain", pipeline, ...settings, "--json");
  const { longestPrompt, sampling, memory } = lastLine<Record<string, unknown>>(planned);
  process.stdout.write(`${JSON.stringify({ longestPrompt, sampling, memory })}\n`);
  const { run } = lastLine<{ run: string }>(
    await everturn("run", pipeline, ...settings, "--runs", runs!, "--json"),
  );
  for (const record of await readLines<StepRecord>(runFolder(runs!, run).metrics))
    process.stdout.write(`${JSON.stringify(record)}\n`);
} finally {
  await rm(work, { recursive: true, force: true });
}

async function everturn(...parameters: string[]): Promise<string> {
  const begun = performance.now();
  const command = start(...parameters);
  const memory = groupMemory(command.child.pid ?? 0);
  const { code, stdout, stderr } = await command.end();
  const [seconds, bytes] = [(performance.now() - begun) / 1000, memory.stop()];
  if (code !== 0) throw new Error(`everturn ${parameters.join(" ")}: ${stderr}`);
  process.stderr.write(stderr);
  process.stdout.write(`${parameters[0]}: ${seconds.toFixed(0)} s, ${(bytes / 1e9).toFixed(2)} GB\n`);
  return stdout;
}

/** Writes rows of ChartQA's columns, as Hugging Face's Parquet files have them. */
async function writeRows(path: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(
    `COPY (SELECT {'bytes': content, 'path': filename} AS image, 'What does it show?' AS query, ['nothing'] AS label
      FROM read_blob('${join(root, "pipelines/zoom/images/00*.png")}') ORDER BY filename) TO '${path}' (FORMAT parquet)`,
  );
  connection.closeSync();
}
