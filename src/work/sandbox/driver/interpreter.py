# What a child of the driver does: it runs programs, in Python itself, in others by becoming their interpreter. Part of the driver's
# text (driver.py), before it.
import ast, atexit, base64, builtins, codecs, ctypes, errno, io, json, linecache, os, resource, select, signal, stat
import sys, threading, time, traceback, types

libc = ctypes.CDLL(None)
PR_SET_DUMPABLE = 4
MIB = 1 << 20
NODE = "/opt/node"


class Interpreter:
    """A process that runs programs of a language: one, or one after the other."""

    def __init__(self, language, keep, limits, others):
        inner, outer = zip(os.pipe(), reversed(os.pipe()), reversed(os.pipe()), os.pipe(), reversed(os.pipe()))
        self.stdin, self.stdout, self.stderr, self.requests, self.answers = outer
        try:
            self.pid = os.fork()
            if self.pid == 0:
                become(language, keep, limits, others, inner)
            self.ended = end_of(self.pid)
        except OSError:
            for fd in outer:
                os.close(fd)
            raise
        finally:
            for fd in inner:
                os.close(fd)
        for fd in outer:
            os.set_blocking(fd, False)

    def end_input(self):
        os.close(self.stdin)
        self.stdin = None

    def close(self):
        for fd in (self.stdin, self.stdout, self.stderr, self.requests, self.answers, self.ended):
            if fd is not None:
                os.close(fd)


def end_of(pid):
    """What can be waited on for a process's end; None where the kernel has no such thing, as older gVisors have not."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        return None


def become(language, keep, limits, others, inner):
    """In the child: 0, 1, 2 are its standard streams, 3 where it gets programs, 4 where it answers; no other file is open."""
    code = 1
    try:
        os.setsid()
        for place, fd in enumerate(inner):
            os.dup2(fd, 200 + place)
        for place in range(len(inner)):
            os.dup2(200 + place, place)
        os.closerange(5, 256)
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        limit(language, limits, others)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        script = os.environ.pop("EVERTURN_JAVASCRIPT", "")
        if language == "javascript":
            kept = "keep" if keep else "once"
            heap = f"--max-old-space-size={limits['memory']}"
            os.execve(NODE, ["node", heap, "--no-warnings", "-e", script, kept], dict(os.environ))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL if language == "shell" else signal.SIG_IGN)
        if language == "shell":
            with os.fdopen(3, "rb", buffering=0) as requests:
                text = json.loads(line_of(requests))["code"]
            os.close(4)
            os.execve("/bin/sh", ["sh", "-c", text], dict(os.environ))
        sys.stdin = open(0, "r", encoding="utf-8", errors="replace", closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)
        code = interpret(keep)
        leave()
    except BaseException as error:
        tell(error)
    finally:
        flush()
        os._exit(code)


def limit(language, limits, others):
    javascript = language == "javascript"
    # V8 reserves far more addresses than it uses, and needs some for its own code: what is writable is bounded instead.
    memory = (resource.RLIMIT_DATA if javascript else resource.RLIMIT_AS, (limits["memory"] + 512 * javascript) * MIB)
    for which, most in (
        memory,
        *([] if others is None else [(resource.RLIMIT_NPROC, limits["processes"] + others)]),
        (resource.RLIMIT_FSIZE, limits["disk"] * MIB),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(which, (most, most))
        except ValueError:
            pass  # gVisor has some of them, and lets nobody set them


def line_of(file):
    line = b""
    while not line.endswith(b"\n"):
        chunk = file.read(1 << 16)
        if not chunk:
            os._exit(0)
        line += chunk
    return line


def interpret(keep):
    """Runs Python programs in one module, as they are asked for; one, if nothing is kept. Answers the exit code."""
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    sys.argv = [""]
    sys.path.insert(0, os.getcwd())
    requests = open(3, "rb", buffering=0, closefd=False)
    count = 0
    while True:
        request = json.loads(line_of(requests))
        count += 1
        if keep:
            sys.stdin = io.StringIO(request["stdin"])
        answer = execute(request["code"], module.__dict__, "<program>" if count == 1 else f"<program {count}>")
        answer["value"] = answer["value"] and answer["value"][: request["output"]]
        flush()
        os.write(4, (json.dumps(answer) + "\n").encode())
        if not keep:
            return answer["code"]


def execute(text, names, name):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    answer = {"code": 1, "error": None, "errno": None, "value": None}
    try:
        tree = compile(text, name, "exec", ast.PyCF_ONLY_AST)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            answer["value"] = None if value is None else repr(value)
        answer["code"] = 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            answer["code"] = (end.code or 0) & 255
        else:
            print(end.code, file=sys.stderr)
    except BaseException as error:
        answer["error"], answer["errno"] = type(error).__name__, getattr(error, "errno", None)
        tell(error)
    return answer


def tell(error):
    """Prints a traceback without the driver's own frames."""
    try:
        trace = error.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<program"):
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
    except BaseException as second:
        sys.stderr.write(f"{type(error).__name__}; it can't be told, by {type(second).__name__}\n")


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass  # the program has closed it


def leave():
    """As an interpreter ends: threads are waited for, and what is registered at its end is called."""
    threading._shutdown()
    atexit._run_exitfuncs()
