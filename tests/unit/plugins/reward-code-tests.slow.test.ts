import { pluginChecks } from "everturn/testing";
import { afterAll, describe, expect, test } from "vitest";
import { bubblewrapHere } from "../../support/bubblewrap.ts";
import { humanEval, judged } from "../../support/humaneval.ts";

const here = await bubblewrapHere();
const double = {
  entry_point: "double",
  test: "def check(candidate):\n  assert candidate(1) == 2\n  assert candidate(2) == 4\n  assert candidate(-3) == -6\n  assert candidate(0) == 0\n",
};

describe.runIf(here !== undefined)("code-tests in bubblewrap", () => {
  afterAll(() => here?.close());

  test("its promises are kept", async () => {
    const cases = [
      {
        answer: "def double(x): return 2 * x",
        groundTruth: JSON.stringify(double),
        reward: 1,
        success: true,
      },
      {
        answer: "def double(x): return 2",
        groundTruth: JSON.stringify(double),
        reward: 0.25,
        success: false,
      },
    ];
    for (const { run } of await pluginChecks("reward-code-tests", {
      cases,
      config: { sandbox: "bubblewrap", time: 5 },
    }))
      await run();
  });

  test("of HumanEval, canonical solutions pass and mutated ones fail: every twelfth task, and those with helpers", async () => {
    const some = humanEval().filter((_, index) => index % 12 === 0 || [38, 50].includes(index));
    for (const task of some)
      expect(await judged(task, "bubblewrap"), task.task_id).toEqual({ canonical: true, mutated: false });
  });
});
