# Values as JSON and back: all that passes between the tests and the code. Part of tests.py's and code.py's text, before them. Plain values pass as
# copies; what else there is stays where it is, and a number stands for it ("theirs", "mine").
import builtins, collections, datetime, decimal, fractions, importlib, json, operator, os, pathlib, sys, uuid

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

LONGEST = 16 << 20  # bytes of a message
# How a value of these types is told, and made again.
TOLD = {
    int: (int.__repr__, int),
    float: (float.__repr__, float),
    complex: (lambda one: [repr(one.real), repr(one.imag)], lambda parts: complex(*map(float, parts))),
    bytes: (bytes.hex, bytes.fromhex),
    bytearray: (bytearray.hex, bytearray.fromhex),
    range: (lambda one: [one.start, one.stop, one.step], lambda parts: range(*parts)),
    decimal.Decimal: (str, decimal.Decimal),
    fractions.Fraction: (str, fractions.Fraction),
    datetime.date: (str, datetime.date.fromisoformat),
    datetime.time: (str, datetime.time.fromisoformat),
    datetime.datetime: (datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    datetime.timedelta: (
        lambda one: [one.days, one.seconds, one.microseconds],
        lambda parts: datetime.timedelta(*parts),
    ),
    uuid.UUID: (str, uuid.UUID),
    type(pathlib.Path()): (str, pathlib.Path),
}
NAMED = {kind.__name__: make for kind, (_, make) in TOLD.items()}
MANY = {tuple: tuple, set: set, frozenset: frozenset, collections.deque: collections.deque}
MAPS = (dict, collections.OrderedDict, collections.Counter, collections.defaultdict)
CHANGED = (list, dict, set, bytearray)  # arguments that a call may change
BUILT = {id(one): name for name, one in vars(builtins).items() if isinstance(one, type) or type(one) is type(len)}
# Errors of the standard library that are told by their names, as those of builtins are.
STANDARD = {
    "argparse": ["ArgumentError", "ArgumentTypeError"],
    "binascii": ["Error"],
    "configparser": ["Error", "NoSectionError", "NoOptionError", "DuplicateSectionError", "ParsingError"],
    "decimal": ["DivisionByZero", "InvalidOperation", "Overflow"],
    "json.decoder": ["JSONDecodeError"],
    "queue": ["Empty", "Full"],
    "re": ["error"],
    "statistics": ["StatisticsError"],
    "struct": ["error"],
    "subprocess": ["CalledProcessError", "TimeoutExpired"],
    "urllib.error": ["HTTPError", "URLError"],
    "zlib": ["error"],
}


def encoded(value, other):
    """`other` encodes what is no plain value."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind in TOLD:
        return {kind.__name__: TOLD[kind][0](value)}
    if kind is list:
        return [encoded(one, other) for one in value]
    if kind in MANY:
        return {kind.__name__: [encoded(one, other) for one in value]}
    if kind in MAPS:
        return {"dict": [[encoded(key, other), encoded(one, other)] for key, one in value.items()]}
    if id(value) in BUILT:
        return {"builtin": BUILT[id(value)]}
    return other(value)


def decoded(data, other):
    """`other` decodes what is no plain value, by its kind and content."""
    if data is None or type(data) in (bool, str):
        return data
    if type(data) is list:
        return [decoded(one, other) for one in data]
    ((kind, content),) = data.items()
    if kind in NAMED:
        return NAMED[kind](content)
    for many in MANY:
        if kind == many.__name__:
            return many(decoded(one, other) for one in content)
    if kind == "dict":
        return {decoded(key, other): decoded(one, other) for key, one in content}
    if kind == "builtin":
        return vars(builtins)[content]
    return other(kind, content)


# The plain value of an object whose class derives from a plain one.
BASES = {
    **{kind: lambda one, kind=kind: kind.__add__(one, kind()) for kind in (int, float, complex, str, bytes)},
    **{kind: lambda one, kind=kind: kind(kind.__iter__(one)) for kind in (list, tuple, set, frozenset)},
    dict: lambda one: dict(dict.items(one)),
}


class Line:
    """Messages by two pipes, a line of JSON each."""

    def __init__(self, reading, writing):
        self.reading, self.writing, self.data = reading, writing, bytearray()

    def send(self, message):
        data = memoryview((json.dumps(message) + "\n").encode())
        while data:
            data = data[os.write(self.writing, data) :]

    def receive(self):
        while (end := self.data.find(b"\n")) < 0:
            chunk = os.read(self.reading, 1 << 16)
            if not chunk:
                raise EOFError("it has ended")
            self.data += chunk
            if len(self.data) > LONGEST:
                raise EOFError("it said too much at once")
        line = bytes(self.data[:end])
        del self.data[: end + 1]
        return json.loads(line)
