import { expect, test } from "vitest";
import { differenceText, estimateText, probabilityText } from "../../../../src/base/text/estimate.ts";
import type { Task } from "../../../../src/contracts/generated/task.ts";
import { tagsOf } from "../../../../src/results/evaluations/groups.ts";
import { numbersOf } from "../../../../src/results/evaluations/numbers.ts";
import type { TaskOutcomes } from "../../../../src/results/evaluations/outcomes.ts";

const task = (source: string, more: Partial<Task> = {}): Task => ({
  data_source: source,
  prompt: [{ role: "user", content: "1 + 1" }],
  reward_model: { ground_truth: "2" },
  ...more,
});

function outcomes(id: string, of: Task, solved: readonly boolean[]): TaskOutcomes {
  const samples = solved.map((success) => ({
    success,
    reward: success ? 1 : -1,
    answer: success ? "2" : "3",
  }));
  return { id, task: of, samples };
}

test("measures pass@k and maj@k over the tasks, by source and by tag", () => {
  const numbers = numbersOf([
    outcomes("task-00000", task("sums", { ability: "math" }), [true, true, false, true]),
    outcomes("task-00001", task("sums", { extra_info: { tags: ["long"] } }), [false, false, true, false]),
    outcomes("task-00002", task("words", { ability: "math" }), [false, false, false, false]),
  ]);
  expect(Object.keys(numbers.measures)).toEqual(["accuracy", "pass@2", "pass@4", "maj@4", "reward"]);
  const values = Object.values(numbers.measures).map(({ value }) => value);
  expect(values[0]).toBeCloseTo(4 / 12, 12);
  expect(values[1]).toBeCloseTo((1 + 0.5 + 0) / 3, 12);
  expect(values[2]).toBeCloseTo(2 / 3, 12);
  expect(values[3]).toBeCloseTo(1 / 3, 12);
  expect(values[4]).toBeCloseTo(-4 / 12, 12);
  expect(numbers.bySource).toMatchObject({ sums: { tasks: 2 }, words: { tasks: 1 } });
  expect(numbers.byTag).toMatchObject({ long: { tasks: 1 }, math: { tasks: 2 } });
  expect(numbersOf([])).toMatchObject({ tasks: 0, measures: { accuracy: { value: 0 } }, bySource: {} });
});

test.each([
  [{}, []],
  [{ ability: "math", tags: "long" }, ["math", "long"]],
  [{ ability: "math", tags: ["math", 7, ""], extra_info: { tags: ["easy"] } }, ["math", "easy"]],
] as const)("tags of %j are %j", (more, tags) => {
  expect(tagsOf({ ...task("sums"), ...more } as Task)).toEqual(tags);
});

test("one way to write a measure, its interval, a difference and a probability", () => {
  expect(estimateText("accuracy", { value: 0.41, low: 0.372, high: 0.449 })).toBe("41.0 % (37.2–44.9)");
  expect(estimateText("accuracy", { value: 0, low: 0, high: 0.5 })).toBe("0 % (0–50.0)");
  expect(estimateText("reward", { value: -0.25, low: -0.5, high: 0 })).toBe("-0.25 (-0.5 to 0)");
  expect(estimateText("pass@2", { value: 0.5 })).toBe("50.0 %");
  expect(differenceText("accuracy", { value: 0.1, low: 0.05, high: 0.15 })).toBe("+10.0 % (5.0–15.0)");
  expect([0.0321, 0.0001, 1].map(probabilityText)).toEqual(["0.032", "< 0.001", "1.000"]);
});
