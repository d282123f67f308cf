import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Media, Trajectory } from "../../../../src/contracts/generated/trajectory.ts";
import type { RecordedCall } from "../../../../src/contracts/recorded-call.ts";
import { readLedger } from "../../../../src/results/ledger/ledger.ts";
import { readTrajectory } from "../../../../src/results/report/read-trajectory.ts";
import { prune } from "../../../../src/results/retention/prune.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { callKey, trajectoryKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { openRecordings } from "../../../../src/work/tools/recordings.ts";
import { png } from "../../../support/images.ts";
import { makeRun } from "../../../support/made-run.ts";
import { changeRecord } from "../../../support/stored-record.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const runs = temporaryFolder();
const made = await makeRun(runs, { steps: 2, trajectories: 2, turns: 2, tokens: 8, singleRecords: 1 });
const { store, folder } = made;
const sha256 = await store.bytes(png(640, 480));
const whole = await store.bytes(Buffer.from("a long page"));
const media: Media[] = [{ type: "image", frames: [{ sha256, mediaType: "image/png", bytes: 33 }] }];

// The first trajectory of each step has seen the image.
for (const stage of ["step-0001", "step-0002"]) {
  const [name] = await trajectoryReader({ store }).list({ stage });
  if (name === undefined) throw new Error("the made run has trajectories");
  const fileOf = ({ path }: { path: string }) => join(folder.root, path);
  changeRecord<RecordedCall>(fileOf(callKey(name, 1, 0)), (call) => ({ ...call, media, whole }));
  changeRecord<Trajectory>(fileOf(trajectoryKey(name)), (record) => ({
    ...record,
    turns: record.turns.map((turn) => ({
      ...turn,
      toolCalls: turn.toolCalls.map((call) => ({ ...call, media, whole })),
    })),
  }));
}

const findings = async () => {
  const ledger = await readLedger(await openRunFolder(runs, made.id));
  return ledger.findings.map(({ check, problem }) => `${check}: ${problem}`);
};

test("images and whole texts of observations outlast folding and pruning, and are read from a step's file", async () => {
  expect(await findings()).toEqual([]);
  const pruned = await prune(await openRunFolder(runs, made.id));
  expect(pruned, "the single records of step 1 are gone").toMatchObject({ folded: [1, 2], trajectories: 2 });
  const run = await openRunFolder(runs, made.id);
  const reader = trajectoryReader(run);
  const [name] = await reader.list({ stage: "step-0001" });
  if (name === undefined) throw new Error("it is in the file of its step");
  const detail = await readTrajectory(reader, {
    ...name,
    id: `made/${name.stage}/${name.task}/${name.sample}`,
  });
  expect(detail.turns[0]?.toolCalls[0]).toMatchObject({ media, whole });
  expect(await run.store.readBytes(sha256)).toEqual(Buffer.from(png(640, 480)));
  expect(await findings()).toEqual([]);
});

test("a run that is answered from these records has the images in its own store", async () => {
  const other = openRunStore(join(runs, "other"));
  const [name] = await trajectoryReader({ store }).list({ stage: "step-0002" });
  if (name === undefined) throw new Error("the made run has trajectories");
  const record = await store.read(trajectoryKey(name));
  const recorded = await store.read(callKey(name, 1, 0));
  if (record === undefined || typeof recorded?.arguments !== "object") throw new Error("it has a call");
  const answer = openRecordings(folder.root);
  const { tool, arguments: given } = recorded;
  const asked = { place: name, task: record.task, turn: 1, call: 0, tool, arguments: given, store: other };
  expect(await answer(asked)).toMatchObject({ media, whole });
  expect(await other.readBytes(sha256)).toEqual(Buffer.from(png(640, 480)));
  expect(String(await other.readBytes(whole))).toBe("a long page");
});

test("the ledger tells which observations name bytes that are gone, in single records and in steps' files", async () => {
  rmSync(join(folder.root, "bytes", sha256.slice(0, 2), `${sha256}.bin`));
  const gone = `observation: an observation refers to missing bytes: ${sha256}`;
  expect(await findings()).toEqual([gone, gone]);
});
