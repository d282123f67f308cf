import codeTests from "@everturn/reward-code-tests";
import type { JsonObject } from "everturn/plugin";
import { afterAll, describe, expect, test } from "vitest";
import { codeOf } from "../../../plugins/reward-code-tests/code-of.ts";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();

/** What the reward says of an answer to a task with these tests. */
async function scored(answer: string, tests: unknown, config: JsonObject = {}) {
  const ground_truth = typeof tests === "string" ? tests : JSON.stringify(tests);
  return await codeTests.score({
    answer,
    task: { data_source: "test", prompt: [{ role: "user", content: "?" }], reward_model: { ground_truth } },
    turns: [],
    outcome: "answered",
    config: {
      sandbox: "bubblewrap",
      extract: "last-block",
      credit: "partial",
      time: 5,
      total: 90,
      memory: 256,
      ...config,
    },
    signal: new AbortController().signal,
  });
}

test("an answer's code is its last block in fences, found in one pass whatever it holds", () => {
  expect(codeOf("```\na\n```\ntext\n~~~python\nb\n```\n~~~\nend", "last-block")).toBe("b\n```\n");
  expect(codeOf("  ````\n```\nc\n```\n  ````", "last-block")).toBe("```\nc\n```\n");
  expect(codeOf("1. So:\n   ```python\n   if a:\n\n     b\n  c\n   ```", "last-block")).toBe(
    "if a:\n\n  b\nc\n",
  );
  expect(codeOf("```\na\n```\n", "whole")).toBe("```\na\n```\n");
  const odd = `${"`".repeat(200_000)}\n${"a\n".repeat(200_000)}`; // by backtracking this would take hours
  expect(codeOf(odd, "last-block")).toBe(odd);
});

test.each([
  ["```\nnever closed", "never closed\n"],
  ["```python\na\n```\nand so\n```python\nb", "b\n"],
  ["````python\ns = '\n```\n'\n`````", "s = '\n```\n'\n"],
  ["```python\r\na\r\n```\r\n", "a\n"],
  ["```Python3\na\n```\nIt prints:\n```\n5\n```", "a\n"],
  ["```js\na\n```\n```text\n5\n```", "5\n"],
  ["```python\na\n```\n```\n```", "a\n"],
  ["Here it is: ```python\na\n```", "a\n"],
  ["```python\na\nb```\nThat is all.", "a\nb\n"],
  ["It is ```python print(1)```.", "print(1)"],
  ["It is ```print(1)```.", "print(1)"],
  ["print(1)", "print(1)"],
  ["~~~\na\n```\n~~~", "a\n```\n"],
])("the code of %j is %j", (answer, code) => {
  expect(codeOf(answer, "last-block")).toBe(code);
});

test("a block of the tests' language wins", () => {
  expect(codeOf("```js\na\n```\n```python\nb\n```", "last-block", "javascript")).toBe("a\n");
});

test("programs whose inputs or outputs hold a number that JavaScript would change are not scored", async () => {
  const tests = '{"inputs": [9007199254740993], "outputs": ["9007199254740993"]}';
  expect(await scored("print(input())", tests)).toEqual({
    missing: "reward_model.ground_truth: the number 9007199254740993 cannot be kept exactly",
  });
});

const fence = (code: string) => `Here it is:\n\n\`\`\`python\n${code}\n\`\`\`\n`;
const double = {
  entry_point: "double",
  test: "def check(candidate):\n  assert candidate(1) == 2\n  assert candidate(2) == 4\n  assert candidate(-3) == -6\n  assert candidate(0) == 0\n",
};

describe.runIf(here !== undefined)("code-tests in bubblewrap", () => {
  afterAll(() => here?.close());

  test("the share of the tests that pass is the reward; all of them are success", async () => {
    expect(await scored(fence("def double(x): return 2 * x"), double)).toMatchObject({
      reward: 1,
      success: true,
    });
    expect(await scored(fence("def double(x): return 2 * abs(x)"), double)).toMatchObject({
      reward: 0.75,
      success: false,
    });
    expect(await scored(fence("def double(x): return 2 * abs(x)"), double, { credit: "all" })).toMatchObject({
      reward: 0,
    });
    expect(await scored("def double(x) return", double)).toMatchObject({ reward: 0, metrics: { passed: 0 } });
    expect(await scored("I don't know.", double)).toMatchObject({ reward: 0, success: false });
  });

  test("tests in the forms that data sets have", async () => {
    const answer = fence("def swap(pair): return pair[1], pair[0]");
    expect(
      await scored(answer, ["assert swap((1, 2)) == (2, 1)", "assert swap(('a', None)) == (None, 'b')"]),
    ).toMatchObject({ reward: 0.5 });
    expect(await scored(answer, "assert swap((1, 2)) == (2, 1)")).toMatchObject({ reward: 1, success: true });
    expect(
      await scored(answer, {
        fn_name: "swap",
        inputs: [[[1, 2]], [[3, 4]]],
        outputs: [
          [2, 1],
          [4, 4],
        ],
      }),
    ).toMatchObject({ reward: 0.5 });
    const sum = fence("print(sum(map(int, input().split())))");
    expect(await scored(sum, { inputs: ["1 2\n", "3 4"], outputs: ["3", "8\n"] })).toMatchObject({
      reward: 0.5,
    });
    const cases =
      "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(swap((1, 2)), (2, 1))\n  def test_b(self): self.assertRaises(TypeError, swap, 5)\n  def test_c(self): self.assertEqual(swap((1, 2)), 3)\n";
    expect(await scored(answer, cases)).toMatchObject({ reward: 2 / 3 });
    expect(
      await scored(
        fence("def sort(l): l.sort()"),
        "def check(c):\n  l = [2, 1]\n  c(l)\n  assert l == [1, 2]\ncheck(sort)",
      ),
    ).toMatchObject({ reward: 1 });
  });

  test("APPS's and LiveCodeBench's calls reach functions and methods of a class Solution", async () => {
    const add = { fn_name: "add", inputs: [[[1, 2], 3]], outputs: [[6]] };
    const lines = { fn_name: "add", inputs: ["[1, 2]\n3"], outputs: ["6"] };
    const solution = fence(
      "class Solution:\n  def add(self, some: List[int], one: Optional[int]) -> int: return sum(some) + one",
    );
    const wrong = fence("class Solution:\n  def add(self, some, one): return sum(some)");
    for (const tests of [add, lines]) {
      expect(await scored(solution, tests)).toMatchObject({ reward: 1, success: true });
      expect(await scored(fence("def add(some, one): return sum(some) + one"), tests)).toMatchObject({
        reward: 1,
      });
      expect(await scored(wrong, tests)).toMatchObject({ reward: 0, success: false });
    }
    const large = '{"fn_name": "same", "inputs": [[9007199254740993]], "outputs": [9007199254740993]}';
    expect(await scored(fence("def same(n): return n"), large)).toMatchObject({ reward: 1 });
    expect(await scored(fence("def same(n): return 9007199254740992"), large)).toMatchObject({ reward: 0 });
  });

  // Whatever an answer does to its own process, the tests are in another sandbox.
  test.concurrent.for([
    ["ends at once", "import os\ndef double(x): os._exit(0)"],
    ["ends at once, while it is loaded", "exit(0)"],
    [
      "equals everything",
      "class E(int):\n  def __eq__(self, other): return True\n  def __hash__(self): return 0\ndef double(x): return E(7)",
    ],
    [
      "patches unittest and asserts",
      "import unittest, builtins\nunittest.TestCase.assertEqual = lambda *a: None\nbuiltins.AssertionError = Exception\ndef double(x): return None",
    ],
    [
      "writes a verdict",
      "import json\nfor f in ('verdict.json', 'results.jsonl'):\n  open(f, 'w').write(json.dumps({'isWhole': True, 'passed': 4, 'tests': 4, 'reasons': [], 'calls': [], 'trouble': None}) + '\\n')\ndef double(x): return None",
    ],
    [
      "writes results that are none",
      "import os\nopen('results.jsonl', 'w').write('{\"value\": {\"int\": \"x\"}}\\n[[[\\n')\nos._exit(0)",
    ],
    [
      "patches what calls it",
      "import sys\nfor f in list(sys._current_frames().values()):\n  while f:\n    f.f_globals['encoded'] = lambda v, s=False: True\n    f = f.f_back\ndef double(x): return 1",
    ],
    [
      "prints that all passed",
      "print('OK. 4 passed'); print('<verdict>1.0</verdict>')\ndef double(x): print('PASSED')",
    ],
    ["never ends", "def double(x):\n  while True: pass"],
    ["returns too much", "def double(x): return [[0] * 1000] * 20000"],
    ["raises what ends the tests", "def double(x): raise SystemExit(0)"],
    [
      "leaves a folder where its results were",
      "import os\nos.unlink('results.jsonl')\nos.makedirs('results.jsonl/full')\ndef double(x): return 2 * x",
    ],
    [
      "takes the rights to all files",
      "import os\ndef double(x):\n  os.chmod('results.jsonl', 0); os.chmod('request.json', 0); os.chmod('.', 0)\n  os._exit(0)",
    ],
    [
      "leads its results to the first process's memory",
      "import os\nos.unlink('results.jsonl')\nos.symlink('/proc/self/mem', 'results.jsonl')\ndef double(x): return 2 * x",
    ],
    ["fills all room", "f = open('/work/f', 'wb')\nwhile True: f.write(bytes(1 << 20))"],
    [
      "takes what the first process needs",
      "import resource\ntry: resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))\nexcept PermissionError: pass\nimport os; os._exit(0)",
    ],
  ])("an answer that %s earns nothing", async ([what, code]) => {
    const config: JsonObject = what === "never ends" ? { time: 2 } : {};
    expect(await scored(fence(code), double, config)).toMatchObject({ success: false, reward: 0 });
  });

  test("whatever an answer makes of tests that call it with what it returned, it has a score", async () => {
    const twice = "assert double(double(1)) == 4\nassert double(2) == 4";
    const right = "def double(x): return 2 * x";
    expect(await scored(fence(right), twice)).toMatchObject({ reward: 1, success: true });
    // It returns something else each time.
    const random = "import random\ndef double(x): return random.random()";
    expect(await scored(fence(random), twice)).toMatchObject({ reward: 0, success: false });
    const randomized = "import random\ndef double(x): return [random.random(), x]";
    const first = "assert double(double(1))[1][1] == 1";
    expect(await scored(fence(randomized), first)).toMatchObject({ reward: 1, success: true });
    // It asks for one more call each time, and has no file to count them in.
    const chain = "x = 1\nwhile x is not None: x = double(x)\nassert x is None";
    const count = `import os\ndef double(x): return x + 1 if x < 9 and os.listdir() == ['request.json', 'results.jsonl'] else None`;
    expect(await scored(fence(count), chain)).toMatchObject({ reward: 1 });
    const endless = "def double(x): return x + 1";
    expect(await scored(fence(endless), chain, { total: 2 })).toMatchObject({ reward: 0, success: false });
    const ofTheirOwn = "import os\nassert double(int.from_bytes(os.urandom(8), 'big')) is not None";
    const missing = { missing: "the task's tests don't make the same calls again" };
    expect(await scored(fence(right), ofTheirOwn, { total: 2 })).toEqual(missing);
    // The total ends while the answer runs.
    const slow = "import time\ndef double(x): time.sleep(60)";
    expect(await scored(fence(slow), ofTheirOwn, { total: 1 })).toEqual(missing);
    expect(await scored(fence(slow), chain, { total: 1 })).toMatchObject({ reward: 0, success: false });
    // It returns more than anybody reads.
    const large = "def double(x): return '\\0' * (30 << 20)";
    expect(await scored(fence(large), "assert double(1) == 2", { memory: 512 })).toMatchObject({ reward: 0 });
  });

  test("an answer that takes its time for each input has a score before the reward's time is over", async () => {
    const slow = fence("import time\nif input() != '1': time.sleep(60)\nprint(2)");
    const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
    const inputs = { inputs: numbers.map(String), outputs: numbers.map((one) => String(2 * one)) };
    const began = performance.now();
    expect(await scored(slow, inputs, { time: 2, total: 3 })).toMatchObject({
      reward: 1 / 40,
      success: false,
    });
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  test("what an answer raises or returns can't make a failing test pass", async () => {
    const stops = fence("def double(x): raise StopIteration()"); // else it would end the tests' own iteration
    expect(await scored(stops, "assert all(map(lambda n: double(n) == 2 * n, [1, 2]))")).toMatchObject({
      reward: 0,
      success: false,
    });
    const unexpected =
      "import unittest\nclass T(unittest.TestCase):\n  @unittest.expectedFailure\n  def test_a(self): assert double(1) == 3";
    expect(await scored(fence("def double(x): return 3"), unexpected)).toMatchObject({ reward: 0 });
    expect(await scored(fence("def double(x): return 2"), unexpected)).toMatchObject({ reward: 1 });
  });

  test("tests may end their own program: what they say by then is their verdict", async () => {
    const right = fence("def double(x): return 2 * x");
    const wrong = fence("def double(x): return 2");
    const exits = "import sys\nassert double(1) == 2\nsys.exit(0 if double(2) == 4 else 1)";
    expect(await scored(right, exits)).toMatchObject({ reward: 1, success: true });
    expect(await scored(wrong, exits)).toMatchObject({ reward: 0.5, success: false });
    const cases =
      "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): self.assertEqual(double(2), 4)\nunittest.main()";
    expect(await scored(right, cases)).toMatchObject({ reward: 1, success: true });
    expect(await scored(wrong, cases)).toMatchObject({ reward: 0, success: false });
    expect(await scored(right, "raise GeneratorExit()\nassert double(1) == 2")).toMatchObject({
      missing: expect.stringContaining("GeneratorExit"),
    });
  });

  test("a score that can't be had is missing, with its reason", async () => {
    expect(await scored(fence("x = 1"), "42")).toEqual({ missing: "reward_model.ground_truth has no tests" });
    expect(await scored(fence("x = 1"), "def check(c: assert")).toMatchObject({
      missing: expect.stringContaining("SyntaxError"),
    });
    expect(await scored(fence("x = 1"), "import nothing\nassert f(1)")).toMatchObject({
      missing: expect.stringContaining("nothing"),
    });
  });
});
