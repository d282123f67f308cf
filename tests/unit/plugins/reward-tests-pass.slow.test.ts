import { pluginChecks } from "everturn/testing";
import { afterAll, describe, expect, test } from "vitest";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();

type Texts = Record<string, string>;

/** The state of tool-workspace with these files. */
function snapshotOf(files: Texts): Uint8Array {
  const pairs = Object.entries(files).map(([path, text]) => [path, Buffer.from(text).toString("base64")]);
  return Buffer.from(JSON.stringify(pairs));
}

const add = "def add(a, b):\n    return a + b\n";
const tests = {
  files: {
    "tests/test_calc.py":
      "import unittest\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(2, 3), 5)\n\n    def test_negative(self):\n        self.assertEqual(add(-2, -3), -5)\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n",
  },
};

describe.runIf(here !== undefined)("tests-pass in bubblewrap", () => {
  afterAll(() => here?.close());

  const bad = "def add(a, b):\n    return 0.5\n";

  test("keeps its promises", async () => {
    const groundTruth = JSON.stringify(tests);
    const state = (files: Texts) => ({ workspace: snapshotOf(files) });
    const checks = await pluginChecks("reward-tests-pass", {
      config: { sandbox: "bubblewrap", time: 20 },
      cases: [
        { answer: "", groundTruth, snapshots: state({ "calc.py": add }), reward: 1, success: true },
        { answer: "", groundTruth, snapshots: state({ "calc.py": bad }), reward: 0, success: false },
        { answer: "", groundTruth, reward: 0, success: false },
        { answer: "", groundTruth: "42", missing: true },
      ],
    });
    for (const check of checks) await check.run();
    expect(checks.map(({ promise }) => promise)).toContain("answers");
  });
});
