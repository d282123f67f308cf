import { expect, test } from "vitest";
import { groupPlaces } from "../../../src/contracts/group-places.ts";
import type { OpenGroup, RolloutProgress, TrajectorySummary } from "../../../src/contracts/rollout.ts";
import { admitted, hasEnded } from "../../../workflows/open-groups.ts";
import {
  emptyRollout,
  nextRound,
  notEnded,
  type RolloutRules,
  type StepPosition,
  taken,
  toStart,
  withEnded,
  withoutStale,
} from "../../../workflows/rollout-state.ts";

const rules: RolloutRules = {
  groups: 2,
  groupSize: 2,
  staleness: 0,
  concurrency: 8,
  minGroup: 2,
  rounds: 3,
};
const position: StepPosition = {
  step: 3,
  policyVersion: 4,
  stepsLeft: 5,
  inTraining: 0,
  isAwaited: true,
  round: 1,
};

function result(trajectory: string, changes: Partial<TrajectorySummary> = {}): TrajectorySummary {
  return {
    trajectory: `run/${trajectory}`,
    outcome: "answered",
    reward: 1,
    success: true,
    turns: 1,
    head: "a",
    policyVersion: 4,
    newestPolicyVersion: 4,
    generationSeconds: 0,
    toolCalls: 0,
    validCalls: 0,
    tokens: { prompt: 1, action: 1, observation: 0 },
    ...changes,
  };
}

const failed = { outcome: "left-out", head: null, failure: "down" } as const;

function opened(tasks: string[], changes: Partial<OpenGroup> = {}): OpenGroup[] {
  return groupPlaces(3, tasks, 2).map((place) => ({ ...admitted(place, 4), isStarted: true, ...changes }));
}

function ended(state: RolloutProgress, results: TrajectorySummary[], own = rules): RolloutProgress {
  return withEnded(state, results, own, position.step);
}

const both = (task: string, ...changes: Partial<TrajectorySummary>[]) =>
  [0, 1].map((sample) => result(`step-0003/${task}/${sample}`, changes[sample]));

test("a trajectory that ended counts once, and one of a group that is not open not at all", () => {
  const begun = { ...emptyRollout(), open: opened(["a", "b"]) };
  const once = ended(begun, [result("step-0003/a/1", { reward: 7 })]);
  const twice = ended(once, [
    result("step-0003/a/1", { reward: 9 }),
    result("step-0002/a/0"),
    result("step-0003/c/0"),
  ]);
  expect(twice.open.map(({ results }) => Object.values(results).map(({ reward }) => reward))).toEqual([
    [7],
    [],
  ]);
  expect(begun.open[0]?.results, "the state before is as it was").toEqual({});
});

test("a task that a step has twice has two groups, told apart by their samples", () => {
  const begun = { ...emptyRollout(), open: opened(["a", "a"]) };
  const state = ended(
    begun,
    [2, 3].map((sample) => result(`step-0003/a/${sample}`)),
  );
  expect(state.open.map(hasEnded)).toEqual([false, true]);
});

test("synchronous: groups are admitted while a step waits for them, all at once, whatever room there is", () => {
  const idle = { ...position, round: 0, isAwaited: false };
  expect(toStart(emptyRollout(), rules, idle)).toBe(0);
  expect(toStart(emptyRollout(), { ...rules, concurrency: 1 }, { ...idle, isAwaited: true })).toBe(2);
  const waiting = { ...emptyRollout(), open: opened(["a", "b"], { isStarted: false }) };
  expect(toStart(waiting, rules, position)).toBe(2);
  expect(toStart({ ...emptyRollout(), open: opened(["a", "b"]) }, rules, position)).toBe(0);
});

test("synchronous: groups to replace are, once all have ended, and in so many rounds", () => {
  const begun = { ...emptyRollout(), open: opened(["a", "b"]) };
  const half = ended(begun, both("a", failed));
  expect(nextRound(half, rules, position)).toBeUndefined();
  expect(taken(half, rules, position)).toBeUndefined();
  const whole = ended(half, both("b"));
  expect(nextRound(whole, rules, position)).toEqual({ round: 2, count: 1 });
  expect(taken(whole, rules, position), "it waits for the round that is to be drawn").toBeUndefined();
  expect(nextRound(whole, rules, { ...position, round: 3 })).toBeUndefined();
  const step = taken(whole, rules, { ...position, round: 3 });
  expect(step?.groups.map(({ group, leftOut }) => [group, leftOut])).toEqual([
    ["a", "lost"],
    ["b", undefined],
  ]);
  expect(step?.left).toEqual({ nextGroup: 1, open: [], leftOut: [] });
});

test("a step is given no more trajectories than Temporal takes at once, those that were replaced included", () => {
  const wide = { ...rules, groups: 30, groupSize: 100, minGroup: 100 };
  const places = groupPlaces(
    3,
    Array.from({ length: 30 }, (_, index) => `t${index}`),
    100,
  );
  const open = places.map((place) => ({ ...admitted(place, 4), isStarted: true }));
  const lost = open.flatMap(({ task, samples }) =>
    samples.map((sample) => result(`step-0003/${task}/${sample}`, failed)),
  );
  const state = ended({ ...emptyRollout(), open }, lost, wide);
  expect(nextRound(state, wide, position), "5,000 in all").toEqual({ round: 2, count: 20 });
  const full = { ...state, open: [...state.open, ...state.open.slice(10)] };
  expect(nextRound(full, wide, { ...position, round: 2 })).toBeUndefined();
  const later = ended({ ...emptyRollout(), open }, lost, { ...wide, staleness: 1 });
  expect(later.leftOut, "beside the 30 that it takes").toHaveLength(20);
});

test("synchronous: if every group should be replaced, the step trains on those that it drew first", () => {
  const first = opened(["a", "b"]);
  const others = opened(["c", "d"], { round: 2 });
  const uniform = { ...rules, rounds: 2, dynamicSampling: { maxRounds: 2 } };
  const all = ["a", "b", "c", "d"].flatMap((task) => both(task));
  const state = ended({ ...emptyRollout(), open: [...first, ...others] }, all);
  const step = taken(state, uniform, { ...position, round: 2 });
  expect(step?.groups.map(({ leftOut }) => leftOut)).toEqual([undefined, undefined, "uniform", "uniform"]);
});

test("asynchronous: a group to replace is left out as it ends, as often as the rounds would let it", () => {
  const own = { ...rules, staleness: 1, rounds: 2 };
  const open = opened(["a", "b", "c"]).map((group, index) => ({ ...group, number: index + 5 }));
  const all = ["a", "b", "c"].flatMap((task) => both(task, failed));
  const state = ended({ ...emptyRollout(), open }, all, own);
  expect(state.leftOut.map(({ group, leftOut }) => [group, leftOut])).toEqual([
    ["a", "lost"],
    ["b", "lost"],
  ]);
  expect(state.open.map(({ task }) => task)).toEqual(["c"]);
});

test("asynchronous: a step takes what ended, names groups of other stages by them, and records what was left out", () => {
  const own = { ...rules, staleness: 1, groups: 1 };
  const open = opened(["a", "b"]).map((group, index) => ({ ...group, number: index + 5 }));
  const older = { ...emptyRollout(), open: [{ ...open[0]!, stage: "step-0002" }, open[1]!] };
  const state = ended(older, [...both("b"), ...[0, 1].map((sample) => result(`step-0002/a/${sample}`))], own);
  const step = taken({ ...state, leftOut: [{ group: "z", results: [], leftOut: "lost" }] }, own, position);
  expect(step?.groups.map(({ group }) => group)).toEqual(["step-0002/a", "z"]);
  expect(step?.left.open.map(({ task }) => task)).toEqual(["b"]);
  expect(step?.left.leftOut).toEqual([]);
});

test("a committed step takes the groups that it was committed with, when they have ended, and leaves none out as stale", () => {
  const own = { ...rules, staleness: 1, groups: 1 };
  const open = opened(["a", "b"], { policyVersion: 1 }).map((group, index) => ({
    ...group,
    number: index + 5,
  }));
  const state: RolloutProgress = { ...emptyRollout(), open, committed: [6] };
  expect(taken(ended(state, both("a"), own), own, position)).toBeUndefined();
  const whole = withoutStale(ended(state, both("b"), own), own, position);
  const step = taken(whole, own, position);
  expect(step?.groups.map(({ group }) => group)).toEqual(["b"]);
  expect(step?.left.committed).toBeUndefined();
  const stale = withoutStale({ ...step!.left, open: ended(state, both("a"), own).open }, own, position);
  expect(stale.leftOut.map(({ leftOut }) => leftOut)).toEqual(["stale"]);
});

test("a shard's trajectories that have not ended are named, also where its task is in another shard's group", () => {
  const [first, second, third] = opened(["a", "a", "b"]);
  if (first === undefined || second === undefined || third === undefined) throw new Error("no groups");
  const state = ended({ ...emptyRollout(), open: [first, second, third] }, [result("step-0003/a/0")]);
  const ids = ["a/1", "a/2", "a/3", "b/0", "b/1"].map((place) => `run/step-0003/${place}`);
  expect(notEnded("run", state, [first, second, third])).toEqual(ids);
  expect(notEnded("run", state, [first])).toEqual(ids.slice(0, 1));
  expect(notEnded("run", { ...state, open: [second, third] }, [first])).toEqual([]);
});
