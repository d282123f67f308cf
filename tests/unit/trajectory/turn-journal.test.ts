import { expect, test } from "vitest";
import type { EndedTrajectory } from "../../../src/contracts/activities.ts";
import { runFolder } from "../../../src/runs/run-folder.ts";
import { openRunStore } from "../../../src/store/open-run-store.ts";
import { readEnded } from "../../../src/trajectory/ended-trajectory.ts";
import { once } from "../../../src/trajectory/journal.ts";
import { callFile, readTurns } from "../../../src/trajectory/turn-journal.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeTurn } from "../../support/written-turn.ts";

const runs = temporaryFolder();
const paths = runFolder(runs, "run");
const run = { folder: paths, store: openRunStore(paths.root) };
const place = {
  id: "run/step-0001/task/0",
  run: "run",
  stage: "step-0001",
  step: 1,
  task: "task",
  sample: 0,
};
const folder = paths.trajectory(place);
const call = (observation: string, reward: number) => ({
  ...{ tool: "search", arguments: { query: "q" }, observation, valid: true },
  ...{ reward, attempts: 1, seconds: 0 },
});

for (const turn of [1, 2, 3]) {
  await writeTurn(run.store, place, turn, [
    { previous: null, origin: "prompt", text: "", tokens: [] },
    { previous: null, origin: "action", text: `action ${turn}`, tokens: [1], policyVersion: 3 + turn },
  ]);
}
for (const number of [10, 2, 0]) await once(callFile(folder, 1, number), async () => call(`${number}`, 0.25));
await once(callFile(folder, 3, 0), async () => call("last", 0));

const ended: EndedTrajectory = {
  place,
  task: { data_source: "", prompt: [{ role: "user", content: "" }], reward_model: { ground_truth: "" } },
  ...{ turns: 2, head: "2", policyVersion: 0, startedAt: 0 },
  tokens: { prompt: 0, action: 0, observation: 0 },
  refused: [{ turn: 2, call: 0, tool: "", arguments: "search(", observation: "error: not JSON" }],
};

test("turns are read in order, with their calls in order, as many as are asked for", async () => {
  const turns = await readTurns(run, place);
  expect(turns.map((turn) => turn.generated.action)).toEqual(["action 1", "action 2", "action 3"]);
  expect(turns[0]?.calls.map(({ observation }) => observation)).toEqual(["0", "2", "10"]);
  expect(await readTurns(run, place, 1)).toHaveLength(1);
  expect(await readTurns(run, { ...place, sample: 1 })).toEqual([]);
});

test("an ended trajectory has its turns from the journal: calls, versions, rewards", async () => {
  const { turns, policyVersions, turnRewards, toolReward } = await readEnded(run, ended);
  expect(policyVersions).toEqual([4, 5]);
  expect(turnRewards).toEqual([0.75, 0]);
  expect(toolReward).toBe(0.75);
  expect(turns[1]).toEqual({
    action: "action 2",
    toolCalls: [
      { tool: "", arguments: "search(", observation: "error: not JSON", valid: false, attempts: 0 },
    ],
  });
  expect((await readTurns(run, place))[1]?.calls).toMatchObject([{ observation: "error: not JSON" }]);
});

test("runs of 0.2 send the turns themselves", async () => {
  const turns = [{ action: "sent", toolCalls: [] }];
  expect(await readEnded(run, { ...ended, turns, toolReward: 0.5 })).toMatchObject({
    ...{ turns, policyVersions: [0], toolReward: 0.5 },
  });
});
