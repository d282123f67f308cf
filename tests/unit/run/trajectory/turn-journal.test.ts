import { expect, test } from "vitest";
import type { EndedTrajectory } from "../../../../src/contracts/activities.ts";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import type { JournalTurn } from "../../../../src/run/projections/turn-record.ts";
import { callKey } from "../../../../src/run/store/keys.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { readEnded } from "../../../../src/run/trajectory/ended-trajectory.ts";
import { readTurns } from "../../../../src/run/trajectory/turn-journal.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeTurn } from "../../../support/written-turn.ts";

const runs = temporaryFolder();
const store = openRunStore(runs);
const place = {
  id: "run/step-0001/task/0",
  run: "run",
  stage: "step-0001",
  step: 1,
  task: "task",
  sample: 0,
};
const call = (observation: string, reward: number) => ({
  tool: "search",
  arguments: { query: "q" },
  observation,
  valid: true,
  reward,
  attempts: 1,
  seconds: 0,
});

// The first turn began eleven calls, of which three were answered, the second one; the third is the last.
for (const [turn, callsBefore] of [
  [1, 0],
  [2, 11],
  [3, 1],
] as const) {
  const segments: [Segment, Segment] = [
    { previous: null, origin: "prompt", text: "", tokens: [] },
    { previous: null, origin: "action", text: `action ${turn}`, tokens: [1], policyVersion: 3 + turn },
  ];
  await writeTurn(store, place, turn, segments, { callsBefore });
}
for (const number of [10, 2, 0]) await store.record(callKey(place, 1, number), call(`${number}`, 0.25));
for (const number of [2, 0]) await store.record(callKey(place, 3, number), call(`last ${number}`, 0.5));

const ended: EndedTrajectory = {
  place,
  task: { data_source: "", prompt: [{ role: "user", content: "" }], reward_model: { ground_truth: "" } },
  turns: 2,
  calls: 1,
  head: "2",
  policyVersion: 0,
  startedAt: 0,
  tokens: { prompt: 0, action: 0, observation: 0 },
  refused: [{ turn: 2, call: 0, tool: "", arguments: "search(", observation: "error: not JSON" }],
};

const observed = (turns: JournalTurn[]) =>
  turns.map(({ calls }) => calls.map(({ observation }) => observation).join());

test("turns are read in order, with their calls in order, also where some were never answered", async () => {
  const turns = await readTurns(store, place, { turns: 3, calls: 3 });
  expect(turns.map((turn) => turn.generated.action)).toEqual(["action 1", "action 2", "action 3"]);
  expect(observed(turns)).toEqual(["0,2,10", "", "last 0,last 2"]);
  expect(turns.map(({ begun }) => begun)).toEqual([11, 1, 3]);
  expect(observed(await readTurns(store, place, { turns: 1, calls: 11 }))).toEqual(["0,2,10"]);
  expect(await readTurns(store, { ...place, sample: 1 })).toEqual([]);
});

test("while it is not known how many calls the last turn began, those up to the first gap are read", async () => {
  expect(observed(await readTurns(store, place))).toEqual(["0,2,10", "", "last 0"]);
});

test("an answer of the last turn counts, though an earlier call of it was never answered", async () => {
  const { turns, turnRewards } = await readEnded(store, { ...ended, turns: 3, calls: 3 });
  expect(turnRewards).toEqual([0.75, 0, 1]);
  expect(turns.map(({ unanswered }) => unanswered)).toEqual([8, undefined, 1]);
});

test("what was cut is counted, an observation once that was cut at characters and at tokens", async () => {
  const cutPlace = { ...place, sample: 7 };
  for (const [turn, cut] of [
    [1],
    [2, { finishReason: "length" as const, cutObservations: 1, callsBefore: 1 }],
  ] as const) {
    const segments: [Segment, Segment] = [
      { previous: null, origin: "prompt", text: "", tokens: [] },
      { previous: null, origin: "action", text: "", tokens: [1], policyVersion: 0 },
    ];
    await writeTurn(store, cutPlace, turn, segments, cut);
  }
  await store.record(callKey(cutPlace, 1, 0), { ...call("cut", 0), whole: "0".repeat(64) });
  const { metrics } = await readEnded(store, { ...ended, place: cutPlace, refused: [] });
  expect(metrics).toEqual({ cutActions: 1, cutObservations: 1 });
});

test("an ended trajectory has its turns from the journal: calls, versions, rewards", async () => {
  const { turns, policyVersions, turnRewards, toolReward } = await readEnded(store, ended);
  expect(policyVersions).toEqual([4, 5]);
  expect(turnRewards).toEqual([0.75, 0]);
  expect(toolReward).toBe(0.75);
  expect(turns[1]).toEqual({
    action: "action 2",
    toolCalls: [
      { tool: "", arguments: "search(", observation: "error: not JSON", valid: false, attempts: 0 },
    ],
  });
  expect((await readTurns(store, place))[1]?.calls).toMatchObject([{ observation: "error: not JSON" }]);
});
