"""Runs programs in an interpreter that may be used again. Its functions are the host's alone: no module has them."""

import ast
import builtins
import linecache
import sys
import traceback

name = "<program>"
main = sys.modules["__main__"].__dict__
for module in ("pyodide_js", "pyodide_js._api"):
    sys.modules.pop(module, None)  # what was registered in their place is found from here on
if "random" in sys.modules:
    sys.modules["random"].seed()  # else every interpreter of one snapshot would draw the same
builtins.exit = builtins.quit = sys.exit
sys.stdout.reconfigure(line_buffering=True)


def run(code):
    """Runs code in `__main__`: [outcome, the last expression's repr or None, exit code]."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    try:
        return execute(code)
    except KeyboardInterrupt:
        return ["failed", None, 1]  # told to stop while it was being judged
    finally:
        flush()


def execute(code):
    try:
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        builtins.exec(compile(tree, name, "exec"), main)
        if last is None:
            return ["finished", None, 0]
        value = builtins.eval(compile(ast.Expression(last.value), name, "eval"), main)
        return ["finished", None if value is None else str(repr(value)), 0]
    except SystemExit as ending:
        return exited(ending.code)
    except MemoryError as error:
        tell(error)
        return ["memory-limit", None, 1]
    except OSError as error:
        tell(error)
        return ["disk-limit" if error.errno == 51 else "failed", None, 1]
    except BaseException as error:
        tell(error)
        return ["failed", None, 1]


def exited(code):
    if code is None or isinstance(code, int):
        number = int(code or 0) & 255
    else:
        number = 1
        print(code, file=sys.stderr)
    return ["failed" if number else "finished", None, number]


def tell(error):
    """The traceback, from the program's own first line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    try:
        traceback.print_exception(type(error), error, trace)
    except Exception:
        print(type(error).__name__, file=sys.stderr)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # the program put something else there
