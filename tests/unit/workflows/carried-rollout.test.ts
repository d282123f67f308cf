import { expect, test } from "vitest";
import { groupPlaces } from "../../../src/contracts/group-places.ts";
import type { RolloutProgress, TrajectorySummary } from "../../../src/contracts/rollout.ts";
import { carriedOf, restored } from "../../../workflows/carried-rollout.ts";

function result(trajectory: string): TrajectorySummary {
  return {
    trajectory,
    outcome: "answered",
    reward: 1,
    success: true,
    turns: 3,
    head: "a".repeat(64),
    policyVersion: 1,
    newestPolicyVersion: 2,
    generationSeconds: 1.234567,
    toolCalls: 2,
    validCalls: 2,
    tokens: { prompt: 100, action: 200, observation: 300 },
  };
}

/** `trajectories` in groups of 8, all ended. */
function rolloutOf(trajectories: number): RolloutProgress {
  const tasks = Array.from({ length: trajectories / 8 }, (_, row) => `task-${String(row).padStart(5, "0")}`);
  const open = groupPlaces(1000, tasks, 8).map((place, index) => {
    const ids = place.samples.map((sample) => `run/${place.stage}/${place.task}/${sample}`);
    const results = Object.fromEntries(ids.map((id, sample) => [sample, result(id)]));
    return { ...place, number: index + 1, policyVersion: 1, isStarted: true, results };
  });
  const left = { group: "z", leftOut: "stale" as const, results: [result("run/step-0999/z/0")] };
  return { nextGroup: 77, open, leftOut: [left], committed: [3] };
}

test("what 10,000 trajectories carry over is far below what Temporal takes at once, and comes back whole, in pages", async () => {
  const state = rolloutOf(10_000);
  const carried = carriedOf(state);
  expect(JSON.stringify(carried).length).toBeLessThan(300_000);
  const pages: number[] = [];
  const again = await restored("run", JSON.parse(JSON.stringify(carried)), async (trajectories) => {
    pages.push(trajectories.length);
    return trajectories.map(result);
  });
  expect(again).toEqual(state);
  expect(Math.max(...pages)).toBe(500);
  expect(
    JSON.stringify(Array.from({ length: 500 }, () => result("run/step-0001/task-00000/0"))).length,
  ).toBeLessThan(1_000_000);
});

test("what has not told yet is not read: its record may be of an earlier attempt", async () => {
  const [group] = rolloutOf(8).open;
  if (group === undefined) throw new Error("it has a group");
  const { 3: third } = group.results;
  const state = {
    nextGroup: 2,
    open: [{ ...group, results: third === undefined ? {} : { 3: third } }],
    leftOut: [],
  };
  const asked: string[] = [];
  await restored("run", carriedOf(state), async (trajectories) => {
    asked.push(...trajectories);
    return [];
  });
  expect(asked).toEqual(["run/step-1000/task-00000/3"]);
});
