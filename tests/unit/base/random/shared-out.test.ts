import { expect, test } from "vitest";
import { sharedOut } from "../../../../src/base/random/shared-out.ts";

test("after any number of draws each part has had its share, to within one", () => {
  const weights = [3, 1, 0, 0.5];
  const total = 4.5;
  const had = weights.map(() => 0);
  for (const [index, { part, nth }] of sharedOut(weights, 0, 500).entries()) {
    expect(nth).toBe(had[part]);
    had[part] = nth + 1;
    for (const [one, weight] of weights.entries()) {
      expect(Math.abs((had[one] ?? 0) - ((index + 1) * weight) / total)).toBeLessThan(1);
    }
  }
  expect(had[2], "of weight 0").toBe(0);
});

test("some draws alone are those of all", () => {
  expect(sharedOut([2, 1], 7, 12)).toEqual(sharedOut([2, 1], 0, 20).slice(7, 12));
});
