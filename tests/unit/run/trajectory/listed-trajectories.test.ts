import { expect, test } from "vitest";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import { leftOutKey, trajectoryKey, turnKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeScore } from "../../../support/written-score.ts";
import { writeTurn } from "../../../support/written-turn.ts";

const segments: [Segment, Segment] = [
  { previous: null, origin: "prompt", text: "1 + 1 =", tokens: [5] },
  { previous: null, origin: "action", text: "2", tokens: [6], policyVersion: 0 },
];

test("trajectories are listed by their names, in order, whatever letters a stage has", async () => {
  const root = temporaryFolder();
  const store = openRunStore(root);
  const byHand = "evaluation-v0002-no-tools-20260102T030405678";
  for (const [stage, sample] of [
    ["step-0001", 10],
    ["step-0001", 9],
    [byHand, 0],
  ] as const) {
    await writeTurn(store, { stage, task: "task-00000", sample }, 1, segments);
  }
  const reader = trajectoryReader({ store });
  const names = await reader.list();
  expect(names.map(({ stage, sample }) => `${stage} ${sample}`)).toEqual([
    `${byHand} 0`,
    "step-0001 9",
    "step-0001 10",
  ]);
  expect(await reader.list({ stage: byHand })).toHaveLength(1);
  for (const name of names) expect(await store.read(turnKey(name, 1))).toBeDefined();
});

test("a trajectory of a task whose id is too long for a key is listed by it once it has ended, and found by it before", async () => {
  const store = openRunStore(temporaryFolder());
  const stage = "step-0001";
  const task = `${"a-long-name-".repeat(12)}1`;
  const [ended, left, under] = [0, 1, 2].map((sample) => ({ stage, task, sample }));
  if (!ended || !left || !under) throw new Error("there are three");
  for (const name of [ended, left, under]) await writeTurn(store, name, 1, segments);
  await writeScore(store, ended, { head: "a", reward: 1 });
  const record = await store.read(trajectoryKey(ended));
  if (record === undefined) throw new Error("it was scored");
  await store.record(leftOutKey(left, 1), { ...record, sample: 1, outcome: "left-out" });
  expect(await trajectoryReader({ store }).list()).toEqual([ended, left]);
  expect(await trajectoryReader({ store }).list({ stage, task })).toEqual([ended, left, under]);
});
