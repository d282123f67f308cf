import { expect, test } from "vitest";
import { mended } from "../../../plugins/reward-math/mended.ts";
import { quickVerdict } from "../../../plugins/reward-math/quick-verdict.ts";
import pairs from "./fixtures/math-pairs.json" with { type: "json" };

// `npm run math` asks the whole reward, with math-verify in the sandbox, about all of these pairs.
test("what is said at once is what math-verify says, and of all pairs what they were made to be", () => {
  const decided = pairs.flatMap((pair) => {
    const quick = quickVerdict(pair.gold, pair.answer);
    return quick === undefined ? [] : [{ ...pair, quick }];
  });
  expect(decided.length).toBeGreaterThan(200);
  expect(decided.filter(({ quick, equal }) => quick !== equal)).toEqual([]);
  const otherwise = decided.filter(({ quick, native }) => quick !== native);
  expect(otherwise.map(({ gold, answer }) => [gold, answer])).toEqual([
    ["1000", "1e3"],
    ["1500", "1.5e3"],
    ["0.002", "2e-3"],
    ["1e3", "1000"],
    ["\\sqrt{2}", "\\sqrt{2}"],
  ]);
});

test.each([
  ["1,234", "$1234.0$", true],
  ["\\frac{2}{4}", "\\boxed{1/2}", true],
  ["1/3", "0.3333333", undefined], // math-verify rounds
  ["27", "28", false],
  ["27", "", false],
  ["27", "27 apples", undefined],
  ["12", "$1$ or $2$", undefined],
  ["1", "9".repeat(100_000), undefined],
])("%s and %.20s: %s", (gold, answer, verdict) => {
  expect(quickVerdict(gold, answer)).toBe(verdict);
});

test.each([
  ["1.5e3", "1500"],
  ["The answer is 2.5E-4.", "The answer is 0.00025."],
  ["the line 2e + 3 of f1e5", "the line 2e + 3 of f1e5"],
  ["\\boxed{\\tan 45^\\circ}", "\\boxed{\\tan(\\frac{45\\pi}{180})}"],
  ["sin(30°)", "$\\sin(\\frac{30\\pi}{180})$"],
  ["an angle of $45^\\circ$", "an angle of $45^\\circ$"],
  ["x ≤ 5", "$x \\le  5$"],
  ["x\\le5", "$x\\le5$"],
  ["x+1", "$x+1$"],
  ["(a, b) = (2b, 3)", "$(a, b) = (2b, 3)$"],
  ["x**2 + 1", "x**2 + 1"],
  ["7 m^2", "7 m^2"],
  ["A", "A"],
  ["So x is at most \\pi there", "So x is at most \\pi there"],
])("%s is read as %s", (text, read) => {
  expect(mended(text)).toBe(read);
});
