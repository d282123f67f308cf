# Runs in the tests' sandbox, which the answer never sees: runs the tests against a stand-in for the answer's functions. It answers
# by what the answer's sandbox has returned; a call that was not made there yet is noted, to be made before the tests run again.
import ast, builtins, random, types


class Enough(BaseException):
    """More calls are wanted than anybody makes."""


class Unanswered(Exception):
    """The answer was stopped before it returned from this call."""


class Stand:
    def __init__(self, results, isEnded, most):
        self.results, self.isEnded, self.most = results, isEnded, most
        self.calls, self.isWhole = [], True

    def function(self, name):
        def call(*parameters, **named):
            if len(self.calls) >= self.most:
                raise Enough()
            wanted = [name, encoded(list(parameters), True), encoded(named, True)]
            self.calls.append(wanted)
            known = self.results.get(json.dumps(wanted))
            if known:
                return self.told(known.pop(0), parameters)
            if self.isEnded:
                raise Unanswered("the answer was stopped")
            self.isWhole = False
            return None

        call.__name__ = name
        return call

    def told(self, result, parameters):
        if "error" in result:
            kind = getattr(builtins, str(result["error"]), None)
            isKind = isinstance(kind, type) and issubclass(kind, Exception)
            if kind in (StopIteration, StopAsyncIteration):
                kind = RuntimeError  # it would end the tests' own iterations, as if they had passed
            raise (kind if isKind else Exception)(result.get("message", ""))
        for mine, after in zip(parameters, decoded(result["after"])):
            if type(mine) is type(after) and mine != after:
                if isinstance(mine, list):
                    mine[:] = after
                elif isinstance(mine, (dict, set)):
                    mine.clear()
                    mine.update(after)
        return decoded(result["value"])


class Cases:
    """What each test came to: a test that runs several times passes if it always does."""

    def __init__(self):
        self.passed, self.reasons = {}, []

    def known(self, name):
        return Case(self, name)

    def note(self, name, error):
        self.passed[name] = self.passed.get(name, True) and error is None
        if error is not None and len(self.reasons) < 5:
            self.reasons.append(f"{name}: {type(error).__name__}: {error}"[:300])


class Case:
    def __init__(self, cases, name):
        self.cases, self.name = cases, name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None and not isinstance(error, Exception):
            return False
        self.cases.note(self.name, error)
        return True


class Split(ast.NodeTransformer):
    """Makes each assertion a test of its own, but those in functions and classes that are tests as a whole."""

    def __init__(self):
        self.names = []

    def visit_ClassDef(self, node):
        return node

    def visit_FunctionDef(self, node):
        return node if node.name.startswith("test") else self.generic_visit(node)

    def visit_Assert(self, node):
        if isinstance(node.test, ast.Constant):
            return node
        name = f"line {node.lineno}" + (f":{node.col_offset}" if f"line {node.lineno}" in self.names else "")
        self.names.append(name)
        node.msg = None  # it may call the answer
        known = ast.Call(ast.Name("__case", ast.Load()), [ast.Constant(name)], [])
        return ast.fix_missing_locations(ast.copy_location(ast.With([ast.withitem(known, None)], [node]), node))


def missing_names(tree, names):
    """What the tests name and nobody has defined: the answer's functions."""
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    bound |= {one.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for one in node.args}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(one.asname or one.name).split(".")[0] for one in node.names}
    return named - bound - set(names) - set(dir(builtins))


def pairs_of(text):
    """The calls of a function and what they must return, of a task's `fn_name`, `inputs` and `outputs`."""
    if text == "":
        return []
    task = json.loads(text)
    return [(task["fn_name"], *pair_of(given, expected)) for given, expected in zip(task["inputs"], task["outputs"])]


def pair_of(given, expected):
    """APPS has a list of arguments and the result; LiveCodeBench a line of JSON for each argument, and the result as JSON."""
    if not isinstance(given, str):
        return (given if isinstance(given, list) else [given]), expected
    try:
        result = json.loads(expected) if isinstance(expected, str) else expected
        return [json.loads(line) for line in given.strip().split("\n")], result
    except ValueError:
        return [given], expected


def run(request, stand, cases):
    module = types.ModuleType("tests")
    names = module.__dict__
    names["__builtins__"] = builtins
    exec(compile(request["setup"], "<setup>", "exec"), names)
    for name, parameters, expected in pairs_of(request["pairs"]):
        with cases.known(f"test {len(cases.passed) + 1}"):
            value = stand.function(name)(*parameters)
            # APPS has some results in a list of one.
            isAlone = isinstance(expected, list) and len(expected) == 1
            assert same(value, expected) or (isAlone and same(value, expected[0])), f"{value!r}"[:100]
    tree = ast.parse(request["text"])
    split = Split()
    for name in {*missing_names(tree, names), *request["functions"]}:
        names[name] = stand.function(name)
    tree = split.visit(tree)
    names["__case"] = cases.known
    if "unittest" in request["text"]:
        import unittest

        unittest.main = lambda *parameters, **named: None  # the cases are run below, without it
    trouble = None
    try:
        exec(compile(tree, "<tests>", "exec"), names)
        if callable(names.get("check")) and request["functions"]:
            names["check"](names[request["functions"][0]])
    except Exception as error:
        if not stand.calls:
            raise  # the tests' own mistake: no answer has a part in it
        trouble = error
    except SystemExit as ending:
        if ending.code not in (None, 0):
            cases.note("the tests as a whole", Exception(f"they exit with {ending.code}"))
    unittest = sys.modules.get("unittest")
    for name, one in list(names.items()):
        if unittest is not None and isinstance(one, type) and issubclass(one, unittest.TestCase):
            run_class(unittest, one, cases)
        elif name.startswith("test") and isinstance(one, types.FunctionType) and one.__code__.co_argcount == 0:
            with cases.known(name):
                one()
    if trouble is not None:
        cases.note("the tests as a whole", trouble)
        for name in split.names:
            cases.passed.setdefault(name, False)


def run_class(unittest, kind, cases):
    for test in unittest.defaultTestLoader.loadTestsFromTestCase(kind):
        result = unittest.TestResult()
        test.run(result)
        failures = [*result.failures, *result.errors]
        reason = failures[0][1].strip().splitlines()[-1] if failures else "it was expected to fail"
        cases.note(test.id(), None if result.wasSuccessful() else Exception(reason))


def same(value, expected):
    """Whether it is what JSON says, in which tuples are lists."""
    if isinstance(value, (list, tuple)) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(same, value, expected))
    if isinstance(value, float) or isinstance(expected, float):
        isNumber = all(isinstance(one, (int, float)) for one in (value, expected))
        return isNumber and abs(value - expected) <= 1e-9 * max(1, abs(value), abs(expected))
    if isinstance(value, dict) and isinstance(expected, dict):
        return {str(key) for key in value} == set(expected) and all(same(one, expected[str(key)]) for key, one in value.items())
    return value == expected


def main():
    with open("request.json") as file:
        request = json.load(file)
    results = {}
    for call, line in zip(request["calls"], request["results"]):
        try:
            result = json.loads(line)
            decoded(result["value"]) if "error" not in result else None
            decoded(result["after"]) if "error" not in result else None
        except Exception:
            result = {"error": "ValueError", "message": "the answer returned what is no value"}
        results.setdefault(json.dumps(call), []).append(result)
    random.seed(0)
    stand, cases = Stand(results, request["isEnded"], request["most"]), Cases()
    trouble = None
    try:
        run(request, stand, cases)
    except Enough:
        trouble = f"more than {request['most']} calls"
    except BaseException as error:
        trouble = f"{type(error).__name__}: {error}"[:500]
    with open("verdict.json", "w") as file:
        verdict = {
            "calls": stand.calls,
            "isWhole": stand.isWhole,
            "passed": sum(cases.passed.values()),
            "tests": len(cases.passed),
            "reasons": cases.reasons,
            "trouble": trouble,
        }
        json.dump(verdict, file)


main()
