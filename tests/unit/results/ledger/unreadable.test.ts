import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { registerLedger } from "../../../../src/apps/cli/commands/ledger.ts";
import { readLedger } from "../../../../src/results/ledger/ledger.ts";
import type { OpenRun } from "../../../../src/run/folder/open-runs.ts";
import { endingOf } from "../../../../src/run/projections/stored-records.ts";
import {
  callKey,
  foldedKey,
  forkKey,
  portionKeys,
  trajectoryKey,
  turnKey,
} from "../../../../src/run/store/keys.ts";
import { foldStep } from "../../../../src/run/trajectory/folded/fold-step.ts";
import { readRecords } from "../../../../src/run/trajectory/folded/read-records.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

/** What of a run can't be read; of its own a sample run is not whole. */
async function unreadable(run: OpenRun, stage?: string) {
  const { findings, replaced } = await readLedger(run, { stage });
  return { findings: findings.filter(({ problem }) => unread.test(problem)), replaced };
}

const unread = /^it is cut|^it is empty|^its content is not/;

test("all that can't be read is listed at once, whatever it is; what was made again breaks nothing", async () => {
  const run = await writeSampleRun();
  const { store, folder } = run;
  expect(await unreadable(run)).toEqual({ findings: [], replaced: [] });
  const [first, second] = await trajectoryReader(run).list({ stage: "step-0001" });
  if (first === undefined || second === undefined) throw new Error("the sample run has trajectories");
  const fileOf = ({ path }: { path: string }) => join(folder.root, path);
  const state = await store.bytes(Buffer.from("a tool's state"));
  const bytes = join(folder.root, "bytes", state.slice(0, 2), `${state}.bin`);
  const broken = [turnKey(first, 1), callKey(first, 1, 0), trajectoryKey(second)].map(fileOf);
  for (const file of broken) truncateSync(file, 50);
  writeFileSync(bytes, "forged");
  writeFileSync(join(folder.root, "evaluations", "evaluation-v0000.json"), "{");
  const taken = { by: "a test" };
  await store.record(forkKey(1), taken);
  truncateSync(fileOf(forkKey(1)), 50);
  await store.record(forkKey(1), taken);
  const { claim } = portionKeys(1, "batch", "1-scores", 0);
  await store.record(claim, taken);
  truncateSync(fileOf(claim), 10);

  const { findings, replaced } = await unreadable(run);
  const expected = [...broken, bytes, join(folder.root, "evaluations", "evaluation-v0000.json")];
  expect(findings.map(({ subject }) => subject).sort()).toEqual(expected.sort());
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(["record"]));
  expect(replaced.sort()).toEqual([
    expect.stringContaining("forks/1.json: it is cut"),
    expect.stringContaining("steps/1/portions/batch/1-scores/0-claim.json: it is cut"),
  ]);

  const ofOther = await unreadable(run, "evaluation-v0005");
  expect(ofOther.findings.filter(({ subject }) => subject.includes("/trajectories/"))).toEqual([]);
});

test("a single record beside the file of its step may break, as long as the file is whole", async () => {
  const run = await writeSampleRun();
  const { store, folder } = run;
  const [name] = await trajectoryReader(run).list({ stage: "step-0001" });
  if (name === undefined) throw new Error("the sample run has trajectories");
  const records = await readRecords(store, name);
  const ending = endingOf(records);
  if (ending === undefined) throw new Error("the trajectory has ended");
  await foldStep(store, 1, async function* () {
    yield { name, records, ending, use: { trainedStep: 1 } };
  });
  const tree = await store.readTree(foldedKey(1));
  const single = join(folder.root, turnKey(name, 1).path);
  truncateSync(single, 50);
  const { findings, replaced } = await unreadable(run);
  expect(findings).toEqual([]);
  expect(replaced).toEqual([expect.stringContaining(`${single}: it is cut`)]);

  const file = join(folder.root, "steps", "1", "folded", tree?.attempt ?? "", "trajectories.parquet");
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(file, bytes);
  const broken = await unreadable(run);
  expect(broken.findings.map(({ subject }) => subject)).toEqual([file, single]);
});

test("the command lists what was made again", async () => {
  const { store, folder, id, runs } = await writeSampleRun();
  await store.record(forkKey(1), { by: "a test" });
  truncateSync(join(folder.root, forkKey(1).path), 50);
  await store.record(forkKey(1), { by: "a test" });
  const told = await runCommand(registerLedger, "ledger", id, "--runs", runs);
  process.exitCode = undefined; // other things are wrong with a sample run
  expect(told).toMatch(
    /unreadable, but rebuilt or also stored in its step's file:\n.*forks\/1\.json: it is cut/,
  );
});
