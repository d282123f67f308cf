import { expect, test } from "vitest";
import { addedScores } from "../../../../src/work/tools/added-scores.ts";

test("scores are added up by their weights, and each is a metric by its name", () => {
  const score = addedScores([
    { part: { part: "watch", weight: 0 }, score: { reward: 7, success: false, turns: [7, 7] } },
    { part: { part: "math", weight: 1 }, score: { reward: 1, success: true, metrics: { boxed: 1 } } },
    { part: { part: "calls", weight: -0.5 }, score: { reward: 3, success: false, turns: [1, 2] } },
  ]);
  expect(score).toEqual({
    reward: -0.5,
    success: true,
    metrics: { watch: 7, math: 1, "math.boxed": 1, calls: 3 },
    turns: [-0.5, -1],
  });
});

test("a reward without a name stays as it is; what is missing is in no sum and no metric", () => {
  const whole = { reward: 0.25, success: true, metrics: { near: 3 }, turns: [0.25] };
  expect(addedScores([{ part: { weight: 1 }, score: whole }])).toEqual(whole);
  expect(
    addedScores([
      { part: { part: "judge", weight: 0 }, score: { missing: "the judge is away" } },
      { part: { part: "math", weight: 2 }, score: { reward: 1, success: false } },
    ]),
  ).toEqual({ reward: 2, success: false, metrics: { math: 1 } });
});
