import { expect, test } from "vitest";
import { bareFormula } from "../../../plugins/reward-math/bare.ts";
import { cleaned } from "../../../plugins/reward-math/cleaned.ts";
import { mended } from "../../../plugins/reward-math/mended.ts";
import { quickVerdict } from "../../../plugins/reward-math/quick-verdict.ts";
import { withoutExtras } from "../../../plugins/reward-math/without-extras.ts";
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
  ["1e-7", "2e-7", false],
  ["0", "1e-300", false],
  ["6.02\\times 10^{23}", "6.02e23", true],
  ["204_5", "204_{5}", true],
  ["204_5", "204_6", false],
  ["12.5\\%", "12.5", true],
  ["\\text{(B)}", "b", true],
  ["\\text{Evelyn}", "Evelyn", true],
  [".5", "0.5", true],
  ["k \\pi, k \\in \\mathbb{Z}", "k\\pi,k\\in\\mathbb{Z}", true],
  ["\\left(\\dfrac{3}{5}, 2\\right]", "(\\frac{3}{5},2]", true],
  ["1 2", "12", undefined],
  ["x y", "xy", undefined],
  ["0,111", "111", undefined],
  ["9007199254740993", "9007199254740992", undefined], // math-verify decides it exactly
])("%s and %s: %s", (gold, answer, verdict) => {
  expect(quickVerdict(gold, answer)).toBe(verdict);
});

test("long answers are left to math-verify", () => {
  expect(quickVerdict("1", "9".repeat(100_000))).toBeUndefined();
});

test.each([
  ["1.5e3", "1500"],
  ["The answer is 2.5E-4.", "The answer is 0.00025."],
  ["the line 2e + 3 of f1e5", "the line 2e + 3 of f1e5"],
  ["\\boxed{\\tan 45^\\circ}", "\\boxed{\\tan(\\frac{45\\pi}{180})}"],
  ["sin(30°)", "\\sin(\\frac{30\\pi}{180})"],
  ["an angle of $45^\\circ$", "an angle of $45^\\circ$"],
  ["x**2 + y**(1+1)", "x^{2} + y^(1+1)"],
  ["**42** is **right**", "**42** is **right**"],
  ["0.1\\overline{6}", "\\frac{15}{90}"],
  ["2 1/3", "2\\frac{1}{3}"],
  ["2 4/3", "2 4/3"],
])("%s is read as %s", (text, read) => {
  expect(mended(text)).toBe(read);
});

test.each([
  ["\\$18.00", "18.00"],
  ["$18", "18"],
  ["$18$", "$18$"],
  ["10{,}000{,}000", "10000000"],
  ["11,\\! 111,\\! 100", "11111100"],
  ["4.", "4"],
  ["\\ldots", "\\ldots"],
  ["1...", "1..."],
  ["\u22123", "-3"],
  ["2 \u2013 a", "2 \u2013 a"],
])("%s without what is no mathematics is %s", (text, clean) => {
  expect(cleaned(text)).toBe(clean);
});

test.each([
  ["x ≤ 5", "$x \\le  5$"],
  ["x\\le5", "$x\\le5$"],
  ["x+1", "$x+1$"],
  ["(a, b) = (2b, 3)", "$(a, b) = (2b, 3)$"],
  ["(3, 4)", "$(3, 4)$"],
  ["{1, 2}", "$\\{1, 2\\}$"],
  ["x = 1 or x = 2", "$x = 1, x = 2$"],
  ["2*sqrt(3)", "$2*sqrt(3)$"],
  ["2√3", "$2\\sqrt{3}$"],
  ["ab + 2a", "$ab + 2a$"],
  ["7 m^2", undefined],
  ["A", undefined],
  ["1/2", undefined],
  ["1,234", "$1,234$"],
  ["a = to be", undefined],
  ["So x is at most \\pi there", undefined],
])("%s that stands there bare is %s", (text, formula) => {
  expect(bareFormula(text)).toBe(formula);
});

test.each([
  ["18 dollars", "18", "18"],
  ["\\text{5 apples}", "5", "5"],
  ["5 m/s^2", "5", "5"],
  ["1,234 square feet", "1234", "1,234"],
  ["2 million", "2", "2 million"],
  ["5 x", "5", "5 x"],
  ["5 feet 3 inches", "5", "5 feet 3 inches"],
  ["18 dollars", "18\\text{ dollars}", "18 dollars"],
  ["\\text{Evelyn}", "5", "\\text{Evelyn}"],
  ["\\textbf{(C)}\\ 5", "C", "C"],
  ["\\textbf{(C)}\\ 5", "\\text{(C)}", "C"],
  ["\\textbf{(C) }\\frac{1}{2}", "\\frac12", "\\frac{1}{2}"],
  ["\\textbf{(C)}", "C", "\\textbf{(C)}"],
])("of %s for %s counts %s", (answer, gold, counted) => {
  expect(withoutExtras(answer, gold)).toBe(counted);
});

test("a degree sign is LaTeX's", () => {
  expect(cleaned("90°")).toBe("90^\\circ");
  expect(quickVerdict(cleaned("90^\\circ"), cleaned("90°"))).toBe(true);
});
