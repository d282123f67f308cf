import { expect, test } from "vitest";
import { shareInterval } from "../../../../src/base/statistics/share-interval.ts";
import {
  counted,
  duration,
  formatReward,
  number,
  percent,
  shortPercent,
} from "../../../../src/base/text/format.ts";
import { linear, stepTicks, ticks } from "../../../../src/results/report/svg/scale.ts";

test("writes numbers for people", () => {
  expect([0, 1, 0.123, 0.9996].map((share) => percent(share))).toEqual(["0 %", "100 %", "12.3 %", "100.0 %"]);
  expect([0.07, 0.025, 1].map(shortPercent)).toEqual(["7 %", "2.5 %", "100 %"]);
  expect([0, 0.0123456, 12.345, 1280, 2e-6, -4.5].map(number)).toEqual([
    "0",
    "0.0123",
    "12.3",
    "1,280",
    "2.0e-6",
    "-4.5",
  ]);
  expect([0, 0.5, -1, 0.0049, 4.8e-7].map(formatReward)).toEqual([
    "0.00",
    "0.50",
    "-1.00",
    "4.9e-3",
    "4.8e-7",
  ]);
  expect([0.04, 4.12, 59.96, 125, 4320].map(duration)).toEqual([
    "40 ms",
    "4.1 s",
    "1 min 00 s",
    "2 min 05 s",
    "1 h 12 min",
  ]);
  expect([counted(1, "turn"), counted(2000, "trajectory", "trajectories")]).toEqual([
    "1 turn",
    "2,000 trajectories",
  ]);
});

test("ticks are round numbers that cover the data, few of them", () => {
  expect(ticks(0, 1, 4)).toEqual([0, 0.5, 1]);
  expect(ticks(0, 0.19, 4)).toEqual([0, 0.05, 0.1, 0.15, 0.2]);
  expect(ticks(-0.3, 0.4, 4)).toEqual([-0.4, -0.2, 0, 0.2, 0.4]);
  expect(ticks(0, 0, 4)[0]).toBe(0);
  for (const [low, high] of [
    [0, 1e-6],
    [3, 3],
    [-7, -7],
    [0, 123_456],
  ] as const) {
    const marks = ticks(low, high, 4);
    expect(marks[0]).toBeLessThanOrEqual(low);
    expect(marks.at(-1)).toBeGreaterThanOrEqual(high);
    expect(marks.length).toBeGreaterThan(1);
    expect(marks.length).toBeLessThanOrEqual(7);
  }
  expect(stepTicks(1, 40, 8)).toEqual([5, 10, 15, 20, 25, 30, 35, 40]);
  expect(stepTicks(1, 1, 8)).toEqual([1]);
});

test("a scale maps its ends, and a domain without width onto the middle", () => {
  const scale = linear([0, 10], [100, 200]);
  expect([scale(0), scale(5), scale(10)]).toEqual([100, 150, 200]);
  expect(linear([3, 3], [100, 200])(3)).toBe(150);
});

test("the interval of a share is Wilson's", () => {
  const [low, high] = shareInterval(0.9, 300);
  expect(low).toBeCloseTo(0.8609, 3);
  expect(high).toBeCloseTo(0.9291, 3);
  expect(shareInterval(1, 20)[1]).toBeCloseTo(1, 9);
  expect(shareInterval(0, 0)).toEqual([0, 1]);
});
