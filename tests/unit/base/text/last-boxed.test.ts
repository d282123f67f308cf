import { markedAnswer } from "everturn/plugin";
import { expect, test } from "vitest";
import { lastBoxed, lastBoxedList } from "../../../../src/base/text/last-boxed.ts";

test.each([
  ["no box", undefined],
  ["\\boxed{never {closed}", undefined],
  ["\\boxed{1}, then \\boxed{2", undefined],
  ["$\\boxed{5}$", "5"],
  ["\\boxed{ 5 }", "5"],
  ["\\boxed {5}", "5"],
  ["\\boxed{\\frac{1}{\\sqrt{2}}}", "\\frac{1}{\\sqrt{2}}"],
  ["\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"],
  ["\\boxed{\\left\\{x\\right.}", "\\left\\{x\\right."],
  ["\\boxed{a\\\\{b}}", "a\\\\{b}"],
  ["\\boxed{\\boxed{5}}", "5"],
  ["\\boxed{1} and \\boxed{2}", "2"],
  ["\\fbox{5}", "5"],
  ["\\fbox{$5$}", "5"],
  ["\\boxed{1} then \\fbox{2}", "2"],
  ["\\fbox{1} then \\boxed{2}", "2"],
  ["$x = \\boxed 5$ is right", "5"],
  ["$\\boxed\\frac12$", "\\frac12"],
  ["It is \\boxed 5.", "5"],
  ["\\boxed 5 is right", "5"],
  ["\\boxed 5, as said", "5"],
  ["\\boxed5", "5"],
  ["\\boxed{}", ""],
  ["\\boxedtext{5}", undefined],
  ["\\boxed", undefined],
])("the last box of %j holds %j", (text, content) => {
  expect(lastBoxed(text)).toBe(content);
});

test.each([
  ["\\boxed{1}, \\boxed{2} and \\boxed{3}", "1, 2, 3"],
  ["$\\boxed{1}$ and $\\boxed{2}$", "1, 2"],
  ["$\\boxed{1} \\quad \\text{and} \\quad \\boxed{2}$", "1, 2"],
  ["\\(x_1 = \\boxed{1}\\) and \\(x_2 = \\boxed{2}\\)", "1, 2"],
  ["\\boxed{1}. No, \\boxed{2}", "2"],
  ["\\boxed{1} or \\boxed{2}", "2"],
  ["\\boxed{1}\\boxed{2}", "2"],
  ["\\boxed{0} so \\boxed{1}, \\boxed{2}", "1, 2"],
])("the last boxes of %j hold %j", (text, content) => {
  expect(lastBoxedList(text)).toBe(content);
});

test("the last box is found in one pass", () => {
  for (const part of ["\\boxed{", "\\boxed", "\\boxed{1},", "\\boxedx", "\\fbox "]) {
    lastBoxed(part.repeat(100_000));
    lastBoxedList(part.repeat(100_000));
  }
});

test.each([
  ["\\boxed{1}, \\boxed{2}", "2", "2", true],
  ["\\boxed{1}, \\boxed{2}", "1, 2", "1, 2", true],
  ["\\boxed{1}, \\boxed{2}", "\\{1, 2\\}", "1, 2", true],
  ["\\boxed{1}, \\boxed{2}", "\\pm 1", "1, 2", true],
  ["\\boxed{1}, \\boxed{2}", "(1, 2)", "2", true],
  ["\\boxed{1}, \\boxed{2}", "1,000", "2", true],
  ["\\boxed{1}, \\boxed{2}", "\\boxed{1} and \\boxed{2}", "1, 2", true],
  ["<answer>1</answer> <answer> 2 </answer> 3", "2", "2", false],
  ["<answer>\\boxed{1}</answer>", "1", "1", true],
  ["1 + 1 = 2\n#### 2\n", "2", "2", false],
  ["#### Step 2\nIt is 3", "3", undefined, false],
  ["It is 3", "3", undefined, false],
])("%j marks, for %j, the answer %j", (text, truth, answer, isBoxed) => {
  expect(markedAnswer(text, truth)).toEqual(answer === undefined ? undefined : { text: answer, isBoxed });
});
