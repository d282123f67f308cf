import { beforeAll, describe, expect, test } from "vitest";
import math from "../../../plugins/reward-math/index.ts";
import { denoHere } from "../../support/deno.ts";
import published from "./fixtures/math-500-answers.json" with { type: "json" };
import labeled from "./fixtures/math-answers.json" with { type: "json" };
import theirs from "./fixtures/math-verify-tests.json" with { type: "json" };

interface Pair {
  gold: string;
  answer: string;
  equal: boolean;
}

const here = await denoHere();

/** Where the reward judges a case of math-verify's tests otherwise, and why. All others are judged as math-verify expects. */
const differences: Record<string, string[]> = {
  "a comma in a ground truth separates values: it is no decimal comma": ["1,22"],
  "a formula between $ may stand on a line of its own": ["Answer $ \n 9 \n $", "Answer \\( \n 9 \n \\)"],
  "the last box counts, not the sentence behind it": ["$10455$"],
  "boxes make a list only where nothing but commas and “and” stands between them": [
    "$\\boxed{1}\\boxed{2}$",
    "$\\\\boxed{35 cm} ++++++ \\\\boxed{4}$",
    "$$\\boxed{(3, 3)} \\text{ for part (a) and } \\boxed{(1, 1)}$$",
    "\\boxed{1} papers and \\boxed{2} bins",
  ],
  "math-verify takes 1 - 1/e for 1 + 1/e": ["$1 + \\frac{1}{\\mathrm{e}}$"],
};

/** What math-verify and the reward both miss. */
const missed = ["\\boxed{x<2 \\text{ or } x>3}"];

async function judged({ gold, answer }: Pick<Pair, "gold" | "answer">): Promise<boolean | string> {
  const score = await math.score({
    task: { data_source: "test", prompt: [], reward_model: { ground_truth: gold } },
    answer,
    turns: [],
    outcome: "answered",
    config: { timeLimit: 60 },
    signal: new AbortController().signal,
  });
  return "missing" in score ? score.missing : score.success;
}

/** The pairs that are judged otherwise than they say. */
async function misjudged(pairs: readonly Pair[]): Promise<Pair[]> {
  const wrong: Pair[] = [];
  for (const { gold, answer, equal } of pairs)
    if ((await judged({ gold, answer })) !== equal) wrong.push({ gold, answer, equal });
  return wrong;
}

describe.runIf(here)("the reward with math-verify in its sandbox", () => {
  beforeAll(() => judged({ gold: "x", answer: "$y$" })); // starts the interpreter

  test("judges the cases of math-verify's own tests as they do, but for the listed differences", async () => {
    const known = Object.values(differences).flat();
    const wrong = await misjudged(theirs.cases);
    const unknown = wrong.filter(({ gold, answer }) => !known.includes(gold) && !known.includes(answer));
    expect(unknown).toEqual([]);
    expect(wrong).toHaveLength(known.length);
    expect(theirs.cases).toHaveLength(261);
  });

  test("judges answers in all their spellings by their value", async () => {
    const wrong = await misjudged(labeled);
    expect(wrong.filter(({ answer }) => !missed.includes(answer))).toEqual([]);
    expect(wrong).toHaveLength(missed.length);
  });

  test("takes every ground truth of MATH-500 for itself, however it is marked, and not for the next one", async () => {
    const { answers } = published;
    const pairs = answers.flatMap((gold, index) => [
      { gold, answer: `So the answer is $\\boxed{${gold}}$.`, equal: true },
      { gold, answer: `Thus we get $${gold}$.`, equal: true },
      { gold, answer: gold, equal: true },
      { gold, answer: `\\boxed{${answers[(index + 1) % answers.length]}}`, equal: false },
    ]);
    expect(await misjudged(pairs)).toEqual([]);
  });
});
