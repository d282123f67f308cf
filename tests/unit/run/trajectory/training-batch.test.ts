import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BatchMember } from "../../../../src/contracts/ledger.ts";
import { trajectoryKey, turnKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { readBatch } from "../../../../src/run/trajectory/training-batch.ts";
import { trajectoryOf } from "../../../../src/run/trajectory/trajectory-of.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeScore } from "../../../support/written-score.ts";
import { writeTurn } from "../../../support/written-turn.ts";

/** Two groups of two trajectories; the turns or the records of those that are named are gone. */
async function batchWithout(turns: string[], records: string[] = []) {
  const root = temporaryFolder();
  const store = openRunStore(root);
  const batch: BatchMember[] = [];
  for (const name of ["a/0", "a/1", "b/0", "b/1"]) {
    const trajectory = `run/step-0001/${name}`;
    const place = trajectoryOf(trajectory);
    const head = await writeTurn(store, place, 1, [
      { previous: null, origin: "prompt", text: "?", tokens: [5] },
      { previous: null, origin: "action", text: name, tokens: [6], logprobs: [-1], policyVersion: 1 },
    ]);
    await writeScore(store, place, { head, turnRewards: [0.5] });
    batch.push({ trajectory, head, reward: 1, group: place.task });
    if (turns.includes(name)) rmSync(join(root, turnKey(place, 1).path));
    if (records.includes(name)) rmSync(join(root, trajectoryKey(place).path));
  }
  const read = await readBatch(store, batch, { temperature: 1, minGroup: 2 });
  const names = (ones: { trajectory: string }[]) =>
    ones.map(({ trajectory }) => trajectory.replace("run/step-0001/", ""));
  const reasons = read.unreadable.map(({ reason }) => reason);
  return { ...read, kept: names(read.members), left: names(read.unreadable), reasons };
}

test("a batch is read with what its turns earned", async () => {
  const { trajectories, kept } = await batchWithout([]);
  expect(kept).toEqual(["a/0", "a/1", "b/0", "b/1"]);
  expect(trajectories[0]).toMatchObject({ tokens: [6], mask: [1], turnRewards: [0.5], group: "a" });
});

test("what a limit cut is told so to the trainer, and what ended otherwise is not", async () => {
  const store = openRunStore(temporaryFolder());
  const outcomes = ["turn-limit", "token-limit", "time-limit", "invalid-limit", "answered", "done"] as const;
  const batch: BatchMember[] = [];
  for (const outcome of outcomes) {
    const trajectory = `run/step-0001/${outcome}/0`;
    const place = trajectoryOf(trajectory);
    const head = await writeTurn(store, place, 1, [
      { previous: null, origin: "prompt", text: "?", tokens: [5] },
      { previous: null, origin: "action", text: "a", tokens: [6], logprobs: [-1], policyVersion: 1 },
    ]);
    await writeScore(store, place, { head, outcome });
    batch.push({ trajectory, head, reward: 1, group: place.task });
  }
  const { trajectories } = await readBatch(store, batch, { temperature: 1, minGroup: 1 });
  expect(trajectories.map(({ truncated = false }) => truncated)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("what can't be read is left out, and with it a group that has too few members then", async () => {
  const { kept, left, reasons } = await batchWithout(["a/1"]);
  expect({ kept, left }).toEqual({ kept: ["b/0", "b/1"], left: ["a/0", "a/1"] });
  expect(reasons).toEqual(["too many trajectories of its group can't be read", "its turns can't be read"]);
});

test("where every group has too few members, the step is trained on what there is", async () => {
  const { kept, left } = await batchWithout(["a/1"], ["b/0"]);
  expect({ kept, left }).toEqual({ kept: ["a/0", "b/1"], left: ["a/1", "b/0"] });
});

test("of nothing that can be read nothing is left", async () => {
  const { kept, reasons } = await batchWithout(["a/0", "a/1"], ["b/0", "b/1"]);
  expect(kept).toEqual([]);
  expect(new Set(reasons)).toEqual(new Set(["its turns can't be read", "its record can't be read"]));
});
