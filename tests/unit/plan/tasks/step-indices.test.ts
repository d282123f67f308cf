import { expect, test } from "vitest";
import { stepIndices } from "../../../../src/plan/tasks/step-indices.ts";
import { samplePlan } from "../../../support/sample-plan.ts";

const plain = samplePlan({ steps: 10, batchSize: 8, tasks: 6, warmStart: false, evaluationEvery: 2 });
const tasks = [..."aaaaaaaaaabbbcccccc"].map((source) => ({ data_source: source }));
const mixed = { ...plain, dataset: { ...plain.dataset, mix: { a: 1, b: 3, c: 0 } } };
const { batchSize, groupSize } = plain.rollout;
const groups = batchSize / groupSize;
const sourceOf = (row: number) => tasks[row]?.data_source;

test("a step has of each data source its share, and of each source no task twice before all were there", () => {
  const steps = Array.from({ length: 12 }, (_, step) => stepIndices(mixed, tasks, step + 1));
  const drawn = steps.flat();
  expect(drawn).toHaveLength(12 * groups);
  const rows = (source: string) => drawn.filter((row) => sourceOf(row) === source);
  expect(rows("c")).toEqual([]);
  expect(Math.abs(rows("b").length - drawn.length * 0.75)).toBeLessThan(1);
  expect(new Set(rows("b").slice(0, 3))).toEqual(new Set([10, 11, 12]));
  expect(new Set(rows("a").slice(0, 10)).size).toBe(Math.min(10, rows("a").length));
});

test("a step's tasks follow from the seed alone; those that replace some are others", () => {
  const drawn = stepIndices(mixed, tasks, 4);
  expect(stepIndices(mixed, tasks, 4)).toEqual(drawn);
  const of = (plan: typeof mixed, replacement?: { round: number; count: number }) =>
    Array.from({ length: 5 }, (_, step) => stepIndices(plan, tasks, step + 1, replacement));
  expect(of({ ...mixed, seed: plain.seed + 1 })).not.toEqual(of(mixed));
  expect(of(mixed, { round: 2, count: groups })).not.toEqual(of(mixed));
  expect(stepIndices(mixed, tasks, 4, { round: 2, count: 1 })).toHaveLength(1);
});

test("tasks that the plan leaves out are in no step, with a mix and without", () => {
  const leftOut = { train: [0, 10, 17], validation: [] };
  for (const { dataset } of [plain, mixed]) {
    const drawn = Array.from({ length: 40 }, (_, step) =>
      stepIndices({ ...plain, dataset: { ...dataset, leftOut } }, tasks, step + 1),
    ).flat();
    expect(drawn.filter((row) => leftOut.train.includes(row))).toEqual([]);
    expect(new Set(drawn).has(11)).toBe(true);
  }
  const none = { ...plain, dataset: { ...plain.dataset, leftOut: { train: [], validation: [] } } };
  expect(stepIndices(none, tasks, 3)).toEqual(stepIndices(plain, tasks, 3));
});

test("without a mix all tasks are in each epoch once", () => {
  const size = tasks.length;
  const epoch = Array.from({ length: size }, (_, step) => stepIndices(plain, tasks, step + 1))
    .flat()
    .slice(0, size);
  expect(epoch.toSorted((one, other) => one - other)).toEqual(tasks.map((_, row) => row));
});
