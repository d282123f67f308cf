import { expect, test } from "vitest";
import { turnKey } from "../../../src/store/keys.ts";
import { openRunStore } from "../../../src/store/open-run-store.ts";
import { trajectoryReader } from "../../../src/trajectory/reader.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeTurn } from "../../support/written-turn.ts";

test("trajectories are listed by their names, in order, whatever letters a stage has", async () => {
  const root = temporaryFolder();
  const store = openRunStore(root);
  const byHand = "evaluation-v0002-no-tools-20260102T030405678";
  for (const [stage, sample] of [
    ["step-0001", 10],
    ["step-0001", 9],
    [byHand, 0],
  ] as const) {
    await writeTurn(store, { stage, task: "task-00000", sample }, 1, [
      { previous: null, origin: "prompt", text: "1 + 1 =", tokens: [5] },
      { previous: null, origin: "action", text: "2", tokens: [6], policyVersion: 0 },
    ]);
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
