import type { JsonObject } from "everturn/plugin";
import { afterAll, describe, expect, test } from "vitest";
import testsPass from "../../../plugins/reward-tests-pass/index.ts";
import { bubblewrapHere } from "../../support/bubblewrap.ts";

const here = await bubblewrapHere();

type Texts = Record<string, string>;

/** The state of tool-workspace with these files. */
function snapshotOf(files: Texts): Uint8Array {
  const pairs = Object.entries(files).map(([path, text]) => [path, Buffer.from(text).toString("base64")]);
  return Buffer.from(JSON.stringify(pairs));
}

async function scored(files: Texts | undefined, tests: JsonObject, config: JsonObject = {}) {
  return await testsPass.score({
    answer: "",
    task: {
      data_source: "test",
      prompt: [{ role: "user", content: "?" }],
      reward_model: { ground_truth: JSON.stringify(tests) },
    },
    turns: [],
    outcome: "answered",
    config: {
      sandbox: "bubblewrap",
      tool: "workspace",
      credit: "partial",
      time: 20,
      total: 90,
      memory: 256,
      ...config,
    },
    snapshots: files === undefined ? {} : { workspace: snapshotOf(files) },
    signal: new AbortController().signal,
  });
}

const add = "def add(a, b):\n    return a + b\n";
const calcTests = {
  files: {
    "tests/test_calc.py":
      "import unittest\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(2, 3), 5)\n\n    def test_negative(self):\n        self.assertEqual(add(-2, -3), -5)\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n",
  },
};

describe.runIf(here !== undefined)("tests-pass in bubblewrap", () => {
  afterAll(() => here?.close());

  test("the share of the tests that pass is the reward; all of them are success", async () => {
    expect(await scored({ "calc.py": add }, calcTests)).toEqual({
      reward: 1,
      success: true,
      metrics: { passed: 1, kept: 1 },
    });
    const wrong = { "src/calc.py": "def add(a, b):\n    return abs(a + b)\n" };
    expect(await scored(wrong, calcTests)).toMatchObject({ reward: 2 / 3, success: false });
    expect(await scored(wrong, calcTests, { credit: "all" })).toMatchObject({ reward: 0 });
    expect(await scored(undefined, calcTests)).toMatchObject({ reward: 0, success: false });
    expect(await scored({}, calcTests)).toMatchObject({ reward: 0 });
    expect(await scored({ "calc.py": "def add(a, b) return" }, calcTests)).toMatchObject({ reward: 0 });
    expect(await scored({ tests: "a file where a folder is", "calc.py": add }, calcTests)).toMatchObject({
      reward: 1,
    });
  });

  test("tests use the code's classes, errors, functions and modules as their own", async () => {
    const shop = {
      "shop/__init__.py": "from .errors import OutOfStock\nfrom .stock import Stock, total\n",
      "shop/errors.py":
        "class ShopError(ValueError):\n    pass\n\nclass OutOfStock(ShopError):\n    def __init__(self, name, left):\n        super().__init__(f'{name}: {left} left')\n        self.left = left\n",
      "shop/stock.py":
        "import json, time\nfrom dataclasses import dataclass\nfrom .errors import OutOfStock\n\n@dataclass\nclass Item:\n    name: str\n    count: int = 1\n\nclass Names(list):\n    pass\n\nclass Stock:\n    def __init__(self, items):\n        self.items = dict(items)\n    def take(self, name, count=1):\n        if self.items.get(name, 0) < count:\n            raise OutOfStock(name, self.items.get(name, 0))\n        self.items[name] -= count\n        return Item(name, count)\n    def __len__(self):\n        return len(self.items)\n    def __contains__(self, name):\n        return name in self.items\n    def __iter__(self):\n        for name in self.items:\n            yield name\n    def __enter__(self):\n        return self\n    def __exit__(self, *_):\n        self.items.clear()\n    def names(self):\n        return Names(self.items)\n    def now(self):\n        return time.time()\n\ndef total(values, weigh=None):\n    return sum(weigh(one) if weigh else one for one in values)\n\ndef sort(values):\n    print('sorting')\n    values.sort()\n\ndef parse(text):\n    return json.loads(text)\n",
    };
    const text = `import io, json, unittest
from contextlib import redirect_stdout
from unittest import mock
import shop.stock
from shop import OutOfStock, Stock, total
from shop.errors import ShopError
from shop.stock import *
from .helpers import three

class TestShop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = Stock({"a": 1})
    def setUp(self):
        self.stock = Stock({"a": 2, "b": three()})
    def test_objects(self):
        item = self.stock.take("a", 2)
        self.assertEqual((item.name, item.count, self.stock.items), ("a", 2, {"a": 0, "b": 3}))
        self.assertEqual(item, shop.stock.Item("a", 2))
        self.assertNotEqual(item, shop.stock.Item("a", 3))
        self.assertIsInstance(item, shop.stock.Item)
        self.assertEqual(str(item), "Item(name='a', count=2)")
        self.assertIs(self.shared, self.shared)
    def test_errors(self):
        with self.assertRaisesRegex(OutOfStock, "b: 3 left") as caught:
            self.stock.take("b", 9)
        self.assertEqual(caught.exception.left, 3)
        self.assertRaises(ShopError, self.stock.take, "c")
        self.assertRaises(ValueError, self.stock.take, "c")
        self.assertRaises(json.JSONDecodeError, parse, "{")
        self.assertRaises(AttributeError, lambda: self.stock.nothing)
        self.assertRaises(SystemExit, total, [1], exit)
    def test_containers(self):
        self.assertEqual((len(self.stock), list(self.stock), sorted(self.stock.names())), (2, ["a", "b"], ["a", "b"]))
        self.assertIn("a", self.stock)
        self.assertNotIn("c", self.stock)
        self.assertEqual(self.stock.names(), ["a", "b"])
        with self.stock as stock:
            self.assertTrue(stock)
        self.assertFalse(self.stock)
    def test_functions(self):
        self.assertEqual(total([1, 2], weigh=lambda one: one * 10), 30)
        with self.assertRaises(LookupError):
            total([1], weigh={}.__getitem__)
        values, out = [3, 1, 2], io.StringIO()
        with redirect_stdout(out):
            sort(values)
        self.assertEqual((values, out.getvalue()), ([1, 2, 3], "sorting\\n"))
    def test_mock(self):
        with mock.patch("shop.stock.time.time", return_value=7.5) as time:
            self.assertEqual(self.stock.now(), 7.5)
        time.assert_called_once_with()
        self.assertGreater(self.stock.now(), 8)
`;
    const files = { "tests/test_shop.py": text, "tests/helpers.py": "def three():\n    return 3\n" };
    expect(await scored(shop, { files })).toMatchObject({ reward: 1, success: true });
  });

  test("tests are named as pytest and unittest name them, and some must not break", async () => {
    const named = (fail_to_pass: string[], pass_to_pass: string[]) => ({
      ...calcTests,
      fail_to_pass,
      pass_to_pass,
    });
    const wrong = { "calc.py": "def add(a, b):\n    return abs(a + b)\n" };
    const kept = named(["tests/test_calc.py::test_zero"], ["tests.test_calc.TestAdd.test_small"]);
    expect(await scored(wrong, kept)).toMatchObject({ reward: 1, success: true });
    const broken = named(
      ["test_small (tests.test_calc.TestAdd)"],
      ["tests/test_calc.py::TestAdd::test_negative", "tests/test_calc.py::test_zero"],
    );
    expect(await scored(wrong, broken)).toMatchObject({
      reward: 0.5,
      success: false,
      metrics: { passed: 1, kept: 0.5 },
    });
    expect(await scored(wrong, named(["tests/test_calc.py::nowhere"], []))).toMatchObject({
      missing: expect.stringContaining("nowhere"),
    });
    const unreadable = { files: { "test_a.py": "def test_a(:\n" } };
    expect(await scored(wrong, unreadable)).toMatchObject({
      missing: expect.stringContaining("can't be run"),
    });
    expect(await scored(wrong, { files: { "test_a.py": "x = 1\n" } })).toHaveProperty("missing");
  });

  test("a test that ends the code's process, or takes too long, costs the others nothing", async () => {
    const code = {
      "calc.py":
        "import os, time\n\ndef add(a, b):\n    if a == 0: os._exit(0)\n    while a < 0: time.sleep(1)\n    return a + b\n",
    };
    expect(await scored(code, calcTests, { time: 5 })).toMatchObject({ reward: 1 / 3, success: false });
  });

  test("code can't make its score missing by keeping tests from being loaded, or by what its modules name", async () => {
    const base =
      "import unittest\nfrom calc import add\nclass Base(unittest.TestCase):\n    def test_add(self): self.assertEqual(add(2, 3), 5)\n";
    const inherited = {
      files: {
        "tests/base.py": base,
        "tests/test_calc.py": "from tests.base import Base\nclass TestAdd(Base): pass\n",
      },
    };
    const named = { ...inherited, fail_to_pass: ["tests/test_calc.py::TestAdd::test_add"] };
    const made = {
      files: {
        "test_calc.py":
          "import unittest, calc\nclass T(unittest.TestCase): pass\nfor name in calc.__all__: setattr(T, 'test_' + name, lambda self: self.assertEqual(calc.add(2, 3), 5))\n",
      },
      fail_to_pass: ["test_calc.py::T::test_add"],
    };
    const whole = { "calc.py": `__all__ = ['add']\n${add}` };
    const broken = { "calc.py": "raise SystemExit(0)" };
    for (const tests of [inherited, named, made]) {
      expect(await scored(whole, tests)).toMatchObject({ reward: 1, success: true });
      expect(await scored(broken, tests)).toMatchObject({ reward: 0, success: false });
    }
    expect(await scored({ "calc.py": `__all__ = ['other']\n${add}` }, made)).toMatchObject({ reward: 0 });
  });

  test("however long tests and commands take, and however many fail, there is a score", async () => {
    const files = {
      "calc.py": "import time\ndef add(a, b): return 0\n",
      "main.py": "import time\ntime.sleep(60)\n",
    };
    const commands = Array.from({ length: 9 }, () => ({ command: "python3 main.py", stdout: "" }));
    const began = performance.now();
    expect(await scored(files, { commands }, { time: 2, total: 5 })).toMatchObject({ reward: 0 });
    expect(performance.now() - began).toBeLessThan(60_000);
    const many = Array.from(
      { length: 400 },
      (_, index) => `def test_${index}(): assert add(0, 0) == ${index % 2}, 'x' * 300\n`,
    );
    expect(
      await scored(files, { files: { "test_calc.py": `from calc import add\n${many.join("")}` } }),
    ).toMatchObject({ reward: 0.5 });
  });

  test("a workspace of many small files has room", async () => {
    const small = Object.fromEntries(Array.from({ length: 4900 }, (_, index) => [`d/${index}`, "1"]));
    expect(await scored({ ...small, "calc.py": add }, calcTests)).toMatchObject({ reward: 1, success: true });
  });

  test("commands are judged by what they print", async () => {
    const files = { "main.py": "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n" };
    const commands = [
      { command: "python3 main.py", stdin: "1 2\n3", stdout: "6" },
      { command: "python3 main.py && cat data.txt", stdout: "0\nlaid over\n" },
      { command: "python3 main.py; exit 1", stdout: "0" },
      { command: "true", stdout: "1" },
    ];
    const over = { "data.txt": "laid over" };
    expect(await scored(files, { files: over, commands })).toMatchObject({ reward: 0.5, success: false });
  });

  // What each of these leaves is no repair: whatever it does, no test has passed.
  const bad = "def add(a, b):\n    return 0.5\n";
  const forge = (what: string, then = ""): Texts => ({ "calc.py": `${what}\n${bad}${then}\n` });
  const hostile: Record<string, Texts> = {
    "os._exit in an import": forge("import os; os._exit(0)"),
    "sys.exit in an import": forge("import sys; sys.exit(0)"),
    "os._exit in a function": { "calc.py": "import os\ndef add(a, b):\n    os._exit(0)\n" },
    "sys.exit in a function": { "calc.py": "import sys\ndef add(a, b):\n    sys.exit()\n" },
    "a skipped test": { "calc.py": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('x')\n" },
    "an inner signal of unittest": {
      "calc.py": "import unittest.case\ndef add(a, b):\n    raise unittest.case._ShouldStop()\n",
    },
    StopIteration: { "calc.py": "def add(a, b):\n    raise StopIteration\n" },
    KeyboardInterrupt: { "calc.py": "def add(a, b):\n    raise KeyboardInterrupt\n" },
    "a printed report": forge(
      "import os, sys\nfor fd in range(1, 50):\n    try: os.write(fd, b'OK\\n' + b'.' * 100 + b'\\nRan 3 tests in 0.001s\\n\\nOK\\n{\"results\": [true, true, true]}\\n')\n    except OSError: pass",
    ),
    "a forged answer by the pipe of the answers": forge(
      "import gc\nfor one in gc.get_objects():\n    if type(one).__name__ == 'Server':\n        for _ in range(20): one.line.send({'value': True, 'after': [], 'printed': ''})",
    ),
    "answers that can't be read": forge(
      "import gc\nfor one in gc.get_objects():\n    if type(one).__name__ == 'Line':\n        one.send({'value': {'nothing': []}, 'after': 7}); one.send({'call': 10 ** 6, 'values': [1]}); one.send([[[]]])",
    ),
    "changed test files and configuration": {
      ...forge(""),
      "tests/test_calc.py": "def test_small(): pass\n",
      "tests/__init__.py": "import sys; sys.exit(0)\n",
      "conftest.py": "import os; os._exit(0)\n",
      "tests/conftest.py": "def pytest_collection_modifyitems(items): items.clear()\n",
      "sitecustomize.py": "import os; os._exit(0)\n",
      "usercustomize.py": "import os; os._exit(0)\n",
      "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    },
    "modules in the place of the standard library's": {
      ...forge(""),
      "unittest.py":
        "class TestCase:\n    def assertEqual(self, *_): pass\n    def run(self, result): result.addSuccess(self)\n",
      "unittest/__init__.py": "import os; os._exit(0)\n",
      "json.py": "import os; os._exit(0)\n",
      "importlib/abc.py": "import os; os._exit(0)\n",
      "signal.py": "def setitimer(*_): pass\n",
    },
    "a patched unittest": forge(
      "import unittest, builtins, sys\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert'): setattr(unittest.TestCase, name, lambda *_, **__: None)\nunittest.TestCase.run = lambda self, result=None: result.addSuccess(self)\nunittest.TestResult.wasSuccessful = lambda self: True\nbuiltins.AssertionError = type('A', (Exception,), {})\nsys.settrace(lambda *_: None)",
    ),
    "an object that equals everything": {
      "calc.py":
        "class Any(float):\n    def __eq__(self, other): return True\n    def __bool__(self): return True\n    def __hash__(self): return 5\n    __ne__ = lambda self, other: False\n    __sub__ = __rsub__ = __abs__ = __round__ = lambda self, *_: 0\ndef add(a, b):\n    return Any(0.5)\n",
    },
    "a class that says what is asked of it": {
      "calc.py":
        "class Any:\n    def __getattr__(self, name): return Any()\n    __eq__ = __bool__ = __contains__ = __lt__ = __gt__ = lambda self, *_: True\n    def __instancecheck__(self, one): return True\n    __class__ = int\ndef add(a, b):\n    return Any()\n",
    },
    "a child that writes reports": forge(
      "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        for name in ('verdict.json', 'report.xml', '.report', 'results.json'):\n            open('/work/' + name, 'w').write('{\"results\": [true, true, true]}')\n        for pid in os.listdir('/proc'):\n            for fd in '12345678':\n                try: open(f'/proc/{pid}/fd/{fd}', 'w').write('{\"results\": [true, true, true]}\\n')\n                except OSError: pass\n        time.sleep(0.05)",
    ),
    // If one of these gets at something, it does what is right, and the test fails.
    "looks into the tests' process": forge(
      "import os\nbroken = False\nfor pid in filter(str.isdigit, os.listdir('/proc')):\n    if int(pid) == os.getpid(): continue\n    for name in ('mem', 'environ', 'maps', 'fd', 'fd/0', 'fd/1', 'cwd', 'root', 'stack', 'map_files'):\n        try: os.listdir(f'/proc/{pid}/{name}') if name in ('fd', 'map_files') else os.open(f'/proc/{pid}/{name}', os.O_RDONLY)\n        except OSError: continue\n        broken = True",
      "if broken: add = lambda a, b: a + b",
    ),
    "looks for the tests": forge(
      "import os, sys, gc, linecache\nfound = str(os.environ) + str(sys.argv) + str(linecache.cache)\nfor pid in filter(str.isdigit, os.listdir('/proc')):\n    try: found += open(f'/proc/{pid}/cmdline').read()\n    except OSError: pass\nfor root in ('/work', '/tmp', '/dev/shm'):\n    for folder, _, names in os.walk(root):\n        for name in names:\n            try: found += open(os.path.join(folder, name)).read()\n            except (OSError, ValueError): pass\nfound += str([one for one in gc.get_objects() if type(one) in (dict, list, tuple)])[:10 ** 7]",
      "if '_'.join(['test', 'small']) in found: add = lambda a, b: a + b",
    ),
    "signals to the tests' process": forge(
      "import os, signal\nfor one in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):\n    os.kill(os.getppid(), one)",
    ),
    "the death of the tests' process": forge("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
    "a fork bomb": forge("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
    "memory without end": forge("x = []\nwhile True: x.append('x' * 10 ** 7)"),
    "an answer without end": {
      "calc.py": "def add(a, b):\n    return 'x' * (40 << 20)\n",
    },
    "an iteration without end": {
      "calc.py": "import itertools\ndef add(a, b):\n    return itertools.count()\n",
    },
  };

  test.each(Object.keys(hostile))("no verdict is forged by %s", async (name) => {
    const each = {
      files: {
        "tests/test_calc.py":
          "import unittest\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(add(2, 3), 5)\n\n    def test_almost(self):\n        self.assertAlmostEqual(add(2, 3), 5)\n\n    def test_near(self):\n        self.assertTrue(abs(add(2, 3) - 5) < 0.01)\n\n    def test_in(self):\n        self.assertIn(add(2, 3), [5])\n\n    def test_list(self):\n        self.assertEqual([add(2, 3)], [5])\n\n\ndef test_zero():\n    assert list(range(add(0, 0))) == []\n",
      },
    };
    expect(await scored(hostile[name], each, { time: 1, total: 20 })).toMatchObject({
      reward: 0,
      success: false,
    });
  });
});
