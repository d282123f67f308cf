# Runs the tests, in a process that the code does not reach: a module of the workspace is a stand-in here, which asks the code's process
# (code.py). The tests' own modules are loaded from memory, and lie on no disk.
import ast, ctypes, importlib.abc, importlib.util, linecache, re, signal, subprocess, time, types, unittest


class Ended(Exception):
    """The code's process has ended, or says what can't be read."""


class Trouble(Exception):
    """The tests can't be run, whatever the code does."""


class Late(BaseException):
    """A test takes too long."""


class Code:
    """The code's process, and the stand-ins for what is in it."""

    def __init__(self, request):
        program = f"MEMORY, ROOTS = {request['memory']}, {request['roots']!r}\n{request['program']}"
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(
            [sys.executable, "-s", "-B", "-c", program], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd="/work"
        )
        self.line = Line(self.child.stdout.fileno(), self.child.stdin.fileno())
        self.stands, self.own, self.errors, self.isBroken = {}, [], [], False

    def end(self):
        self.isBroken = True
        self.child.kill()
        self.child.wait()
        try:
            os.kill(-1, signal.SIGKILL)  # what it has started, too
        except ProcessLookupError:
            pass

    def ask(self, do, *values):
        if self.isBroken:
            raise Ended("the code's process has ended")
        message = {"do": do, "values": [self.encoded(one) for one in values]}
        try:
            self.line.send(message)
            answer = self.received()
            while "call" in answer:
                self.line.send(self.called(answer))
                answer = self.received()
            if "raise" in answer:
                error = self.error(answer["raise"])
            else:
                value = self.decoded(answer["value"])
                given = values[1] if do == "call" else []
                for one, after in zip([one for one in given if type(one) in CHANGED], answer["after"]):
                    change(one, self.decoded(after))
                if answer.get("end") is True and do == "next":
                    error = StopIteration()
                else:
                    return value
        except Late:
            self.isBroken = True
            raise
        except BaseException as trouble:
            self.isBroken = True
            raise Ended(f"the code's process has ended, or says what can't be read ({type(trouble).__name__})") from None
        raise error from None

    def received(self):
        answer = self.line.receive()
        sys.stdout.write(str(answer["printed"]))
        return answer

    def called(self, answer):
        try:
            given, named = (self.decoded(one) for one in answer["values"])
            return {"value": self.encoded(self.own[answer["call"]](*given, **named))}
        except Late:
            raise
        except BaseException as error:
            self.errors.append(error)
            kind = next(one for one in type(error).__mro__ if one.__module__ == "builtins")
            return {"raise": [kind.__name__, str(error), len(self.errors) - 1]}

    def encoded(self, value):
        def other(one):
            if isinstance(one, (Stand, Module)):
                return {"theirs": object.__getattribute__(one, "_everturn_number")}
            if isinstance(one, type) and isinstance(vars(one).get("_everturn_number"), int):
                return {"theirs": vars(one)["_everturn_number"]}
            if isinstance(one, type) or not callable(one):
                raise TypeError(f"a {type(one).__name__} of the tests' own can't be handed to the code")
            self.own.append(one)
            return {"mine": len(self.own) - 1}

        return encoded(value, other)

    def decoded(self, data):
        def other(kind, content):
            return self.own[content] if kind == "mine" else self.stand(*content)

        return decoded(data, other)

    def stand(self, number, kind="", name="", more=()):
        if number not in self.stands:
            if kind == "standard":
                self.stands[number] = standard_error(str(name), str(more))
            elif kind == "error":
                self.stands[number] = self.error_class(number, str(name), [self.decoded(one) for one in more])
            else:
                self.stands[number] = Stand(self, number)
        return self.stands[number]

    def error_class(self, number, name, bases):
        bases = [safe_error(one) for one in bases if isinstance(one, type) and issubclass(one, BaseException)]

        def attribute(error, attribute):
            if attribute.startswith("__") or attribute.startswith("_everturn"):
                raise AttributeError(attribute)
            return self.ask("get", Stand(self, error._everturn_error), attribute)

        names = {"_everturn_number": number, "__str__": told_text, "__getattr__": attribute}
        return type(name, tuple(dict.fromkeys(bases)) or (Exception,), names)

    def error(self, told):
        if "mine" in told:
            return self.errors[told["mine"]]
        kind = self.decoded(told["kind"])
        kind = safe_error(kind) if isinstance(kind, type) and issubclass(kind, BaseException) else Exception
        args = tuple(self.decoded(one) for one in told["args"])
        try:
            error = kind.__new__(kind, *args)
            BaseException.__init__(error, *args) if "_everturn_number" in vars(kind) else error.__init__(*args)
        except TypeError:
            error = kind.__new__(kind)
        error._everturn_text, error._everturn_error = str(told["text"]), int(told["error"])
        return error


def told_text(error):
    return getattr(error, "_everturn_text", None) or BaseException.__str__(error)


def safe_error(kind):
    """One that ends neither an iteration of the tests' own, nor the tests."""
    isEnding = issubclass(kind, (StopIteration, StopAsyncIteration, GeneratorExit, KeyboardInterrupt))
    return RuntimeError if isEnding else kind


def standard_error(module, name):
    return getattr(importlib.import_module(module), name) if name in STANDARD.get(module, []) else Exception


def change(one, after):
    if type(one) is type(after) and one != after:
        one.clear()
        one.extend(after) if isinstance(one, (list, bytearray)) else one.update(after)


class Stand:
    """What is in the code's process, and no plain value. It is never asked to compare itself with a plain value, or to reckon with one: whatever is
    asked about the expected value could answer to please."""

    def __init__(self, code, number):
        object.__setattr__(self, "_everturn_code", code)
        object.__setattr__(self, "_everturn_number", number)

    def __getattr__(self, name):
        return asked(self, "get", name)

    def __setattr__(self, name, value):
        asked(self, "set", name, value)

    def __delattr__(self, name):
        asked(self, "unset", name)

    def __call__(self, *given, **named):
        return asked(self, "call", list(given), named)

    def __iter__(self):
        return asked(self, "built", "iter")

    def __next__(self):
        return asked(self, "next")

    def __contains__(self, one):
        base = base_of(self)
        return one in base[0] if base else asked(self, "within", one) is True

    def __getitem__(self, key):
        return asked(self, "operate", "getitem", key)

    def __setitem__(self, key, value):
        asked(self, "operate", "setitem", key, value)

    def __delitem__(self, key):
        asked(self, "operate", "delitem", key)

    def __enter__(self):
        return asked(self, "get", "__enter__")()

    def __exit__(self, kind, error, trace):
        if error is None:
            return asked(self, "get", "__exit__")(None, None, None)
        raise Ended("an error of the tests' own can't be handed to the code's __exit__")

    def __instancecheck__(self, one):
        return isinstance(one, Stand) and asked(one, "built", "isinstance", self) is True

    def __subclasscheck__(self, one):
        return isinstance(one, Stand) and asked(one, "built", "issubclass", self) is True

    def __eq__(self, other):
        if isinstance(other, Stand):
            return asked(self, "operate", "eq", other) is True
        base = base_of(self)
        return bool(base) and base[0] == other

    def __ne__(self, other):
        return not self == other


def asked(stand, do, *values):
    return object.__getattribute__(stand, "_everturn_code").ask(do, stand, *values)


def base_of(stand):
    base = asked(stand, "base")
    return base if isinstance(base, list) and not any(isinstance(one, Stand) for one in base) else []


def built(name, kinds):
    def method(stand, *_):
        value = asked(stand, "built", name)
        if not isinstance(value, kinds):
            raise TypeError(f"{name} of an object of the code's is no {kinds.__name__}")
        return value

    return method


def reckoned(name, isSwapped=False):
    def method(stand, other):
        if isinstance(other, Stand):
            return asked(stand, "operate", name, other)
        base = base_of(stand)
        if not base:
            raise TypeError("an object of the code's can't be compared to a plain value, or reckoned with")
        return getattr(operator, name)(*([other, base[0]] if isSwapped else [base[0], other]))

    return method


for name, kind in {"str": str, "repr": str, "len": int, "hash": int, "bool": bool, "int": int, "float": float}.items():
    setattr(Stand, f"__{name}__", built(name, kind))
for name in ("lt", "le", "gt", "ge"):
    setattr(Stand, f"__{name}__", reckoned(name))
for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift", "matmul"):
    plain = name.strip("_")
    setattr(Stand, f"__{plain}__", reckoned(name))
    setattr(Stand, f"__r{plain}__", reckoned(name, True))
for name in ("neg", "pos", "abs", "invert"):
    setattr(Stand, f"__{name}__", lambda stand, name=name: asked(stand, "operate", name))


class Module(types.ModuleType):
    """A module of the workspace."""

    def __getattr__(self, name):
        if name == "__all__":
            return asked(self, "names")
        if name.startswith("__"):
            raise AttributeError(name)
        return asked(self, "get", name)

    def __setattr__(self, name, value):
        if name.startswith("__") or isinstance(value, types.ModuleType):
            return super().__setattr__(name, value)
        asked(self, "set", name, value)

    def __delattr__(self, name):
        asked(self, "unset", name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The tests' modules from memory, the workspace's by their stand-ins; nothing from the workspace's disk."""

    def __init__(self, request):
        self.files = {module_of(path): path for path in request["files"] if path.endswith(".py")}
        self.texts, self.modules, self.code = request["files"], set(request["modules"]), None

    def packages(self):
        return {".".join(name.split(".")[:end]) for name in self.files for end in range(1, name.count(".") + 1)}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.stdlib_module_names:
            return None
        isPackage = name in self.packages() or self.files.get(name, "__init__.py").endswith("__init__.py")
        isKnown = name in self.files or name in self.packages() or name in self.modules
        return importlib.util.spec_from_loader(name, self, is_package=isPackage) if isKnown else None

    def create_module(self, spec):
        if spec.name in self.files or spec.name in self.packages() or spec.name not in self.modules:
            return None
        there = self.code.ask("load", spec.name)
        module = Module(spec.name)
        for name in ("_everturn_code", "_everturn_number"):
            types.ModuleType.__setattr__(module, name, object.__getattribute__(there, name))
        return module

    def exec_module(self, module):
        path = self.files.get(module.__name__)
        if path is None:
            return
        text, place = self.texts[path], f"/work/{path}"
        linecache.cache[place] = (len(text), None, text.splitlines(True), place)
        module.__file__ = place
        exec(compile(text, place, "exec"), module.__dict__)

    def forget(self):
        for name in [name for name, one in sys.modules.items() if getattr(one, "__loader__", None) is self]:
            del sys.modules[name]


def module_of(path):
    return path[:-3].replace("/", ".").removesuffix(".__init__")


def written_tests(path, text):
    """The names of a file's tests as they stand in its text."""
    found = []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise Trouble(f"{path}: {error}")
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            inner = [one.name for one in node.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test")]
            found += [f"{path}::{node.name}::{name}" for name in inner]
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.append(f"{path}::{node.name}")
    return found


def loaded_tests(path, module):
    """What runs each test of a module, by its name."""
    found = {}
    for name, one in vars(module).items():
        if isinstance(one, type) and getattr(one, "__module__", None) == module.__name__:
            isCase = issubclass(one, unittest.TestCase)
            methods = unittest.defaultTestLoader.getTestCaseNames(one) if isCase else []
            methods = methods if isCase else [inner for inner in dir(one) if name.startswith("Test") and inner.startswith("test")]
            for method in methods:
                found[f"{path}::{name}::{method}"] = one(method) if isCase else method_test(one, method)
        elif isinstance(one, types.FunctionType) and name.startswith("test"):
            found[f"{path}::{name}"] = unittest.FunctionTestCase(one)
    return found


def method_test(kind, name):
    def run():
        instance = kind()
        getattr(instance, "setup_method", lambda *_: None)()
        getattr(instance, name)()

    return unittest.FunctionTestCase(run)


class Result(unittest.TestResult):
    successes = 0

    def addSuccess(self, test):
        self.successes += 1


def passes(test, code, seconds):
    result = Result()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        unittest.TestSuite([test]).run(result)
    except BaseException:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    isGood = result.wasSuccessful() and result.successes == 1 and not result.skipped and not result.expectedFailures
    return isGood and not code.isBroken


class Judge:
    def __init__(self, request):
        self.request, self.finder, self.code = request, Finder(request), None
        self.results, self.isWhole = {}, True  # whether each file of tests could be loaded
        self.end = time.monotonic() + request["total"] - 2  # so that there is a verdict before the sandbox ends all
        sys.meta_path.insert(0, self.finder)

    def loaded(self, path):
        """The tests of a file, with a process of the code's that is whole."""
        if self.code is None or self.code.isBroken:
            self.close()
            self.code = self.finder.code = Code(self.request)
            self.finder.forget()
        signal.setitimer(signal.ITIMER_REAL, self.seconds())
        try:
            return loaded_tests(path, importlib.import_module(module_of(path)))
        except BaseException:
            self.code.isBroken, self.isWhole = True, False
            return {}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def seconds(self):
        return max(0.01, min(self.request["time"], self.end - time.monotonic()))

    def close(self):
        if self.code is not None:
            self.code.end()

    def run(self, path):
        names = written_tests(path, self.request["files"][path])
        found = self.loaded(path)
        if not found and not names and not self.isWhole:
            self.results[path] = False  # the code keeps it from saying which tests it has
        for name in dict.fromkeys([*names, *found]):
            if self.code.isBroken and found:
                found = self.loaded(path)
            test = found.get(name)
            self.results[name] = test is not None and passes(test, self.code, self.seconds())

    def unknown(self, known):
        """Names that no test has, whatever the code does: not those of files that it keeps from being loaded, or that make their tests."""
        texts = [self.request["files"][path] for path in self.request["tests"]]
        isSaid = self.isWhole and not any(map(MAKES_TESTS.search, texts))
        return [name for name in self.request["names"] if name not in known] if isSaid else []


# What a file may make tests with that don't stand in its text.
MAKES_TESTS = re.compile(r"\b(setattr|globals|locals|vars|exec|eval|load_tests|__dict__)\b|\btype\([^()]*,")


def aliases(name):
    """How a test is named: as pytest does, and as unittest does in old and new versions."""
    path, *inner = name.split("::")
    if not inner:
        return [name]
    dotted = ".".join([module_of(path), *inner[:-1]])
    return [name, f"{dotted}.{inner[-1]}", f"{inner[-1]} ({dotted})", f"{inner[-1]} ({dotted}.{inner[-1]})"]


def main():
    request = json.loads(sys.stdin.read())
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def late(*_):
        raise Late("it takes too long")

    signal.signal(signal.SIGALRM, late)
    said, sys.stdout, sys.stderr = sys.stdout, open(os.devnull, "w"), open(os.devnull, "w")
    judge, verdict = Judge(request), {}
    try:
        # The code's process has the same user: it is not to look into this one, or to write into it.
        if ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) != 0:
            raise Trouble("this process can't be closed to others")
        for path in request["tests"]:
            judge.run(path)
        known = {alias: judge.results[name] for name in judge.results for alias in aliases(name)}
        named = [known.get(name, False) for name in request["names"]]
        verdict = {"results": list(judge.results.values()), "named": named, "unknown": judge.unknown(known)}
    except Trouble as error:
        verdict = {"trouble": f"the tests can't be run: {error}"}
    finally:
        judge.close()
    said.write(f"{request['nonce']}{json.dumps(verdict)}\n")
    said.flush()
    os._exit(0)


sys.path[:] = [one for one in sys.path if one not in ("", "/work")]
main()
