import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { everturn, lastLine } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { folderOf } from "../support/versions.ts";

test("a resumed run rebuilds the spoiled weights of its warm start and its newest version, bit for bit", async () => {
  const runs = temporaryFolder();
  const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
  const ended = await everturn("run", pipeline, "--runs", runs, "--set", "steps=1", "--json");
  expect(ended.code, ended.stderr).toBe(0);
  const { run: id } = lastLine<TrainingResult>(ended.stdout);
  const run = await openRunFolder(runs, id);
  const weights = async (version: number) => join(await folderOf(run, version), "model.safetensors");
  const made = new Map<number, Buffer>();
  for (const version of [1, 2]) {
    const file = await weights(version);
    const content = readFileSync(file);
    made.set(version, content);
    const spoiled = Buffer.from(content);
    spoiled.writeUInt8(spoiled.readUInt8(content.length - 100) ^ 1, content.length - 100);
    writeFileSync(file, spoiled); // as long as before
  }
  const resumed = await everturn("resume", id, "--runs", runs, "--set", "steps=2", "--json");
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ steps: 2, trajectories: 32 });
  for (const [version, content] of made) {
    expect(readFileSync(await weights(version)).equals(content), `version ${version}`).toBe(true);
  }
  const ledger = await everturn("ledger", id, "--runs", runs);
  expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
});
