# One run of a program. Part of the driver's text (driver.py), before it.
GRACE = 0.5  # seconds in which a kept interpreter may heed its interrupt
WATCH = 0.05  # seconds between two looks at memory, processes and files
INODES = 1024  # files for each MiB of disk, since each costs the kernel's memory


class Stream:
    """What comes by a pipe, up to a number of bytes."""

    def __init__(self, fd, most):
        self.fd, self.most, self.data, self.isOver = fd, most, bytearray(), False

    def take(self):
        """Reads what is there. False at its end."""
        try:
            chunk = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        room = self.most - len(self.data)
        self.data += chunk[:room]
        self.isOver = self.isOver or len(chunk) > room
        return bool(chunk)

    def text(self):
        return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self.data), final=not self.isOver)

    def drain(self):
        """Reads what is there, once all that could write has ended, or has answered."""
        for _ in range(64):
            before = len(self.data)
            if not self.take() or len(self.data) == before:
                return


class Execution:
    def __init__(self, driver, interpreter, request, limits):
        self.driver, self.interpreter, self.limits = driver, interpreter, limits
        self.keep, self.began = request["keep"], time.monotonic()
        self.stdout = Stream(interpreter.stdout, limits["output"])
        self.stderr = Stream(interpreter.stderr, limits["output"])
        self.answer = Stream(interpreter.answers, limits["output"] * 6 + 4096)
        told = {"code": request["code"], "output": limits["output"], "stdin": request["stdin"] if self.keep else ""}
        self.pending = {interpreter.requests: memoryview((json.dumps(told) + "\n").encode())}
        if not self.keep:
            self.pending[interpreter.stdin] = memoryview(request["stdin"].encode())
        self.broken, self.killAt, self.processes = None, None, 0
        self.watchAt = self.began + WATCH
        # What is there already is not this program's: it may have come to remove it.
        self.mostFiles = {folder: max(files_in(folder), INODES * limits["disk"]) for folder in FOLDERS}

    def run(self):
        self.listen()
        while not self.isOver():
            self.wait()
            self.broken = self.broken or self.brokenLimit()
            if self.broken is not None:
                self.stop()
        status = self.driver.statuses.get(self.interpreter.pid)
        if not self.keep:
            self.driver.sweep()
        for stream in (self.stdout, self.stderr, self.answer):
            stream.drain()
        if self.isFlooded():
            self.broken = self.broken or "output-limit"  # it had ended before all that it wrote was read
        return self.result(status)

    def listen(self):
        self.poll = select.poll()
        self.open = {stream.fd: stream for stream in (self.stdout, self.stderr, self.answer)}
        for fd in (0, self.interpreter.ended, *self.open):
            if fd is None:
                continue
            self.poll.register(fd, select.POLLIN)
        for fd in self.pending:
            self.poll.register(fd, select.POLLOUT)

    def isOver(self):
        if self.keep and (self.answer.data.endswith(b"\n") or self.answer.isOver):
            return True
        self.driver.reap()
        return self.interpreter.pid in self.driver.statuses

    def wait(self):
        until = min(self.watchAt, self.began + self.limits["time"])
        seconds = 0.01 if self.broken or self.interpreter.ended is None else max(0, until - time.monotonic())
        for fd, _ in self.poll.poll(seconds * 1000 + 1):
            if fd in self.pending:
                self.give(fd)
            elif fd in self.open:
                if not self.open[fd].take():
                    self.forget(fd)
            elif fd == 0:
                self.driver.listen()
            else:
                self.poll.unregister(fd)  # it has ended

    def give(self, fd):
        rest = self.pending[fd]
        try:
            rest = rest[os.write(fd, rest[:65536]) :] if rest else rest
        except BlockingIOError:
            return
        except BrokenPipeError:
            rest = rest[:0]
        self.pending[fd] = rest
        if not rest:
            del self.pending[fd]
            self.poll.unregister(fd)
            if fd == self.interpreter.stdin:
                self.interpreter.end_input()

    def forget(self, fd):
        self.poll.unregister(fd)
        del self.open[fd]

    def isFlooded(self):
        return self.stdout.isOver or self.stderr.isOver

    def brokenLimit(self):
        now = time.monotonic()
        if now >= self.began + self.limits["time"]:
            return "time-limit"
        if self.isFlooded():
            return "output-limit"
        if now < self.watchAt:
            return None
        self.watchAt = now + WATCH
        parents = self.driver.processes()
        self.processes = max(self.processes, len(parents))
        if memory_of(parents, self.limits["memory"] * MIB) > self.limits["memory"] * MIB:
            return "memory-limit"
        if self.driver.counts and len(parents) > self.limits["processes"]:
            return "process-limit"
        return "disk-limit" if any(files_in(folder) > most for folder, most in self.mostFiles.items()) else None

    def stop(self):
        """Interrupts what is kept, and kills it if it does not heed that; kills everything else at once."""
        now = time.monotonic()
        if self.killAt is None:
            isPolite = self.keep and self.broken in ("time-limit", "output-limit")
            self.killAt = now + GRACE if isPolite else now
            if isPolite:
                os.kill(self.interpreter.pid, signal.SIGINT)
        if now < self.killAt or self.isOver():
            return
        if self.keep:
            self.driver.end_all()
        else:
            self.driver.sweep()

    def result(self, status):
        told = self.told()
        result = {
            "stdout": self.stdout.text(),
            "stderr": self.stderr.text(),
            "value": told.get("value"),
            "code": told.get("code"),
            "seconds": time.monotonic() - self.began,
            "ended": self.keep and (status is not None or not told),
        }
        if status is not None:
            code = os.waitstatus_to_exitcode(status)
            result["code"] = code if code >= 0 else 128 - code
        result["outcome"] = self.broken or self.outcome(result, told)
        return result

    def told(self):
        """What the interpreter said; nothing, if a program has broken it."""
        try:
            told = json.loads(bytes(self.answer.data))
        except (ValueError, RecursionError):
            return {}
        kinds = {"value": (str, type(None)), "code": int, "error": (str, type(None)), "errno": (int, type(None))}
        isRight = isinstance(told, dict) and all(isinstance(told.get(key), kind) for key, kind in kinds.items())
        return told if isRight and 0 <= told["code"] <= 255 else {}

    def outcome(self, result, told):
        if not result["ended"] and result["code"] == 0:
            return "finished"
        error, number = told.get("error"), told.get("errno")
        heap = result["code"] in (133, 134) and "out of memory" in result["stderr"]
        if error == "MemoryError" or number == errno.ENOMEM or heap or "Array buffer allocation failed" in result["stderr"]:
            return "memory-limit"
        if number in (errno.ENOSPC, errno.EFBIG) or result["code"] == 128 + signal.SIGXFSZ or any(map(is_full, FOLDERS)):
            return "disk-limit"
        if number == errno.EAGAIN or self.processes >= self.limits["processes"] or "can't start new thread" in result["stderr"]:
            return "process-limit"
        return "ended" if result["ended"] else "failed"
