import { expect, test } from "vitest";
import { laidOver } from "../../../plugins/reward-tests-pass/files.ts";
import { testsOf } from "../../../plugins/reward-tests-pass/task-tests.ts";

const calcTests = { files: { "tests/test_calc.py": "def test_zero():\n    assert add(0, 0) == 0\n" } };

test("a ground truth says its tests, or why it says none", () => {
  expect(testsOf(JSON.stringify({ ...calcTests, FAIL_TO_PASS: '["a"]', pass_to_pass: ["b"] }))).toMatchObject(
    {
      tests: ["tests/test_calc.py"],
      failToPass: ["a"],
      passToPass: ["b"],
    },
  );
  for (const [wrong, why] of [
    ["42", "not an object"],
    ["{", "JSON"],
    ["{}", "neither"],
    ['{"files":{"../a":""}}', "../a"],
    ['{"files":{"a":1}}', "a is not a path"],
    ['{"tests":["test_a.py"]}', "no test_a.py"],
    ['{"commands":[{"command":"make test"}]}', "exit code"],
    ['{"files":{"test_a.py":""},"fail_to_pass":[1]}', "not a list of texts"],
  ] as const)
    expect(testsOf(wrong)).toMatchObject({ missing: expect.stringContaining(why) });
});

test("what is in the way of a file that is laid over others goes", () => {
  expect(Object.keys(laidOver({ a: "", "b/c": "", "d/e": "" }, { "a/x": "", b: "", "d/f": "" }))).toEqual([
    "d/e",
    "a/x",
    "b",
    "d/f",
  ]);
});
