# The first process of a sandbox: reads requests from standard input, a line of JSON each, and answers each with a line. Programs
# are its children (interpreter.py, execution.py). When it ends, as it does with its standard input, the kernel ends all of them.
FOLDERS = ("/work", "/tmp")
MOST_LISTED = 10_000
LISTED_BYTES = 1 << 20  # of all paths


class Driver:
    counts = False  # whether the kernel does not bound the number of processes, and it is looked at instead

    def __init__(self):
        self.kept = {}  # by language
        self.gone = []  # what was kept until this run
        self.statuses = {}  # of processes that have ended, until the run's end
        self.parts = []  # of a request

    def serve(self):
        while True:
            request = json.loads(self.line())
            try:
                answer = getattr(self, "do_" + request["do"])(request)
            except Exception as error:
                answer = {"failed": f"{type(error).__name__}: {error}"}
            data = memoryview((json.dumps(answer) + "\n").encode())
            while data:
                data = data[os.write(1, data) :]

    def line(self):
        while not self.parts or not self.parts[-1].endswith(b"\n"):  # the next request comes after this one's answer
            self.listen()
        line = b"".join(self.parts)
        self.parts.clear()
        return line

    def listen(self):
        chunk = os.read(0, 1 << 20)
        if not chunk:
            os._exit(0)
        self.parts.append(chunk)

    def do_start(self, request):
        self.limits, self.counts = request["limits"], request["counts"]
        return {}

    def do_write(self, request):
        for path, content, isMore in request["parts"]:
            try:
                write("/work", path, base64.b64decode(content), isMore)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    return {"full": True}
                if isMore:
                    return {"gone": True}  # the file that it goes on with
                raise
        return {}

    def do_read(self, request):
        try:
            content = part("/work", request["path"], request["from"], request["most"])
        except OSError:
            content = None
        return {"content": None if content is None else base64.b64encode(content).decode()}

    def do_list(self, request):
        files, room = [], LISTED_BYTES
        for path, size in files_below("/work"):
            room -= len(path)
            if room < 0 or len(files) == MOST_LISTED:
                files.append({"path": "./", "size": 0})  # there are more
                break
            files.append({"path": path, "size": size})
        return {"files": sorted(files, key=lambda file: file["path"])}

    def do_run(self, request):
        language, keep = request["language"], request["keep"]
        limits = {**self.limits, **request["limits"]}
        had = set(self.kept)
        self.reap()
        if any(interpreter.pid in self.statuses for interpreter in self.kept.values()):
            self.end_all()
        interpreter = self.kept.get(language) if keep else None
        if interpreter is None:
            others = 1 + (len(self.processes()) if self.kept else 0)
            try:
                interpreter = Interpreter(language, keep, limits, others)
            except OSError as error:
                return {"refused": str(error)}  # no program has begun
            if keep:
                interpreter.end_input()
                self.kept[language] = interpreter
        result = Execution(self, interpreter, request, limits).run()
        if result.pop("ended"):
            self.end_all()
        for ended in self.gone if keep else [*self.gone, interpreter]:
            ended.close()
        self.gone.clear()
        self.statuses.clear()
        result["lost"] = not had <= set(self.kept) or (keep and language not in self.kept)
        return result

    def processes(self):
        """The processes of the sandbox but this one, each with its parent."""
        parents = {}
        for name in os.listdir("/proc"):
            if not name.isdigit() or name == "1":
                continue
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    state, parent = file.read().rpartition(b") ")[2].split(maxsplit=2)[:2]
            except (OSError, ValueError):
                continue  # it has ended
            if state not in (b"Z", b"X"):
                parents[int(name)] = int(parent)
        return parents

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.statuses[pid] = status

    def sweep(self):
        """Kills all processes but what is kept; all, if they are made faster than that."""
        for _ in range(50):
            parents = self.processes()
            spared = set()
            for interpreter in self.kept.values():
                spared |= with_descendants(interpreter.pid, parents)
            others = set(parents) - spared
            if not others:
                return
            if spared:
                for pid in others:
                    kill(pid)
            else:
                self.kill_all()
            time.sleep(0.001)
            self.reap()
        self.end_all()

    def end_all(self):
        self.gone += self.kept.values()
        self.kept.clear()
        while self.processes():
            self.kill_all()
            time.sleep(0.001)
            self.reap()

    def kill_all(self):
        kill(-1)


def with_descendants(pid, parents):
    found = {pid}
    while True:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended


def memory_of(pids, enough):
    """The bytes of memory of these processes. What they share is counted once where it would be too much otherwise."""
    if not os.path.exists("/proc/self/smaps_rollup"):  # gVisor: what is more than in this process, of which they began as copies
        shared = kibibytes(os.getpid(), "status", (b"VmRSS:",))
        return sum(max(0, kibibytes(pid, "status", (b"VmRSS:",)) - shared) for pid in pids) << 10
    resident = sum(kibibytes(pid, "status", (b"RssAnon:", b"RssShmem:")) for pid in pids) << 10
    return resident if resident <= enough else sum(kibibytes(pid, "smaps_rollup", (b"Pss:",)) for pid in pids) << 10


def kibibytes(pid, page, names):
    try:
        with open(f"/proc/{pid}/{page}", "rb") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith(names))
    except OSError:
        return 0  # it has ended


def files_in(folder):
    room = os.statvfs(folder)
    return room.f_files - room.f_ffree


def is_full(folder):
    room = os.statvfs(folder)
    return room.f_bavail * room.f_bsize < 16384
