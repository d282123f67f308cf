# Runs in a process beside the tests': imports the workspace's modules, and does with them what the tests ask. It knows no test and no expected
# value; what the code does to this process can only change what it answers.
import importlib, io, resource


class Server:
    def __init__(self, line):
        self.line, self.objects, self.numbers = line, [], {}
        self.printed = sys.stdout = io.StringIO()

    def serve(self):
        while True:
            try:
                request = self.line.receive()
            except EOFError:
                os._exit(0)
            self.line.send(self.answered(request))

    def answered(self, request):
        try:
            kept = [self.decoded(one) for one in request["values"]]
            value = getattr(self, request["do"])(*kept)
            given = kept[1] if request["do"] == "call" else []
            after = [self.encoded(one) for one in given if type(one) in CHANGED]
            answer = {"value": self.encoded(value), "after": after}
        except StopIteration if request["do"] == "next" else ():
            answer = {"value": None, "after": [], "end": True}
        except BaseException as error:
            answer = {"raise": self.raised(error)}
        return {**answer, "printed": self.taken()}

    def taken(self):
        text = self.printed.getvalue()[:65536]
        self.printed.seek(0)
        self.printed.truncate()
        return text

    def encoded(self, value):
        def other(one):
            return {"mine": one._everturn} if isinstance(one, Back) else {"theirs": self.known(one)}

        return encoded(value, other)

    def decoded(self, data):
        def other(kind, content):
            return self.objects[content] if kind == "theirs" else Back(self, content)

        return decoded(data, other)

    def known(self, value):
        """An object's number; a class of errors is told with what it derives from."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            return [number]
        module, name = value.__module__, value.__name__
        if name in STANDARD.get(module, []):
            return [number, "standard", module, name]
        return [number, "error", name, [self.encoded(one) for one in value.__bases__]]

    def raised(self, error):
        def plain(one):
            return str(one)

        back = getattr(error, "_everturn", None)
        args = [encoded(one, plain) for one in error.args]
        told = {"kind": self.encoded(type(error)), "args": args, "text": str(error), "error": self.known(error)[0]}
        return told if back is None else {"mine": back}

    def called(self, number, given, named):
        """Calls a function of the tests'."""
        values = [self.encoded(list(given)), self.encoded(named)]
        self.line.send({"call": number, "values": values, "printed": self.taken()})
        while True:
            answer = self.line.receive()
            if "do" in answer:
                self.line.send(self.answered(answer))
            elif "value" in answer:
                return self.decoded(answer["value"])
            else:
                kind = getattr(builtins, answer["raise"][0], Exception)
                error = kind(answer["raise"][1])
                error._everturn = answer["raise"][2]
                raise error

    # What the tests ask for.
    def load(self, name):
        return importlib.import_module(name)

    def names(self, value):
        return list(getattr(value, "__all__", [one for one in dir(value) if not one.startswith("_")]))

    def call(self, value, given, named):
        return value(*given, **named)

    def get(self, value, name):
        return getattr(value, name)

    def set(self, value, name, new):
        setattr(value, name, new)

    def unset(self, value, name):
        delattr(value, name)

    def next(self, value):
        return next(value)

    def within(self, value, one):
        return one in value

    def base(self, value):
        """In a list; an empty one, if it is of a class that derives from no plain one."""
        return next(([make(value)] for kind, make in BASES.items() if isinstance(value, kind)), [])

    def operate(self, value, name, *others):
        return getattr(operator, name)(value, *others)

    def built(self, value, name, *others):
        return getattr(builtins, name)(value, *others)


class Back:
    """A function of the tests'."""

    def __init__(self, server, number):
        self._server, self._everturn = server, number

    def __call__(self, *given, **named):
        return self._server.called(self._everturn, given, named)


def serve():
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for which, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_NOFILE, 128)):
        resource.setrlimit(which, (most, most))
    sys.argv, sys.path[:1] = [""], ROOTS
    sys.modules["__main__"] = type(sys)("__main__")
    Server(Line(reading, writing)).serve()


serve()
