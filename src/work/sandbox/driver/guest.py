# Runs one program where others isolate it, a server that is asked: the session's files come with the request, and those that the program changed go
# back. The end of the guest's text, after driver.py; `run` is called with the names of both files, which lie in the working folder.
import hashlib, shutil

PR_SET_CHILD_SUBREAPER = 36
FOLDERS = ()  # their disk is not this program's alone
MOST_FILES = 10_000


class Guest(Driver):
    counts = True

    def processes(self):
        parents = super().processes()
        return {pid: parents[pid] for pid in with_descendants(os.getpid(), parents) if pid in parents and pid != os.getpid()}

    def kill_all(self):
        for pid in self.processes():
            kill(pid)

    def listen(self):
        pass


def run(asked, answered):
    global NODE
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with open(asked) as file:
        request = json.load(file)
    for path in (asked, __file__):
        os.unlink(path)
    given = {path: base64.b64decode(content) for path, content in request["files"].items()}
    for path, content in given.items():
        write(".", path, content)
    NODE = shutil.which("node")
    del os.environ["EVERTURN_GUEST"]
    os.environ["EVERTURN_JAVASCRIPT"] = request["javascript"]
    never = os.pipe()  # where the driver hears of its end
    os.dup2(never[0], 0)
    print("begun", flush=True)  # what goes wrong from here on is the program's doing
    limits = request["limits"]
    guest = Guest()
    result = Execution(guest, Interpreter(request["language"], False, limits, None), request, limits).run()
    put, isFull = changed({path: digest(content) for path, content in given.items()}, limits["disk"] * MIB)
    if isFull:
        result["outcome"] = "disk-limit"
    there = {path for path, _ in files_below(".")}
    answer = {**result, "put": put, "removed": [path for path in given if path not in there], "node": NODE is not None}
    with open(answered, "w") as file:
        json.dump(answer, file)


def changed(before, most):
    """The files that the program wrote, and whether all that there are take too much: then none. A name counts what it takes in JSON at most."""
    there = [(path, size + 6 * len(os.fsencode(path))) for path, size in files_below(".") if not path.endswith("/")]
    if len(there) > MOST_FILES or sum(size for _, size in there) > most:
        return {}, True
    put = {}
    for path, _ in there:
        content = part(".", path, 0, most)
        if before.get(path) != digest(content):
            put[path] = base64.b64encode(content).decode()
    return put, False


def digest(content):
    return hashlib.sha256(content).digest()
