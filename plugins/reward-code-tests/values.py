# Plain values as JSON and back: all that passes between the tests and the answer. Part of tests.py's and answer.py's text, before them.
import json, sys

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


class Other:
    """A value that is none of those that can be passed."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<{self.name}>"


def encoded(value, isStrict=False):
    def inner(one):
        return encoded(one, isStrict)

    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return {"int": int.__repr__(int(value))}
    if isinstance(value, float):
        return {"float": float.__repr__(float(value))}
    if isinstance(value, complex):
        return {"complex": [float.__repr__(value.real), float.__repr__(value.imag)]}
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, list):
        return [inner(one) for one in list.__iter__(value)]
    if isinstance(value, tuple):
        return {"tuple": [inner(one) for one in tuple.__iter__(value)]}
    if isinstance(value, (set, frozenset)):
        return {"frozenset" if isinstance(value, frozenset) else "set": [inner(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[inner(key), inner(one)] for key, one in dict.items(value)]}
    if isStrict:
        raise TypeError(f"a {type(value).__name__} can't be passed to the answer")
    return {"other": type(value).__name__}


def decoded(data):
    if data is None or isinstance(data, (bool, str)):
        return data
    if isinstance(data, list):
        return [decoded(one) for one in data]
    ((kind, content),) = data.items()
    if kind == "int":
        return int(content)
    if kind == "float":
        return float(content)
    if kind == "complex":
        return complex(*map(float, content))
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind == "tuple":
        return tuple(decoded(one) for one in content)
    if kind in ("set", "frozenset"):
        return {"set": set, "frozenset": frozenset}[kind](decoded(one) for one in content)
    if kind == "dict":
        return {decoded(key): decoded(one) for key, one in content}
    return Other(str(content))
