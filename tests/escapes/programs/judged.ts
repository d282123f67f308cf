import type { Escape } from "../escape.ts";

/** The files that lie there before a program runs, and that are written again after it: what a judge asks with. */
export const judgesFiles = { "judge.txt": "asked", "judge/asked.txt": "asked" };

/** Python that does something to each of the judge's files and folders, and goes on where that is refused. */
function toEach(action: string): () => string {
  const lines = action.split("\n").map((line) => `        ${line}`);
  return () =>
    [
      "import os, shutil, stat, socket",
      "for path in ('judge.txt', 'judge/asked.txt', 'judge'):",
      "    try:",
      ...lines,
      "    except Exception as error: print(type(error).__name__)",
    ].join("\n");
}

const clear = "shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)";

/** Python that makes a system call of x64 (`number`) and says whether it was refused. */
function syscall(name: string, number: number, ...parameters: string[]): Escape {
  const lines = [
    "import ctypes",
    "libc = ctypes.CDLL(None, use_errno=True)",
    `print('refused' if libc.syscall(${[number, ...parameters].join(", ")}) == -1 else 'ESCAPED')`,
  ];
  return { name, code: () => lines.join("\n"), meansNothingInWasm: "it has no system calls" };
}

const either = ["finished", "failed", "ended"] as const;
const anyLimit = [
  ...either,
  "time-limit",
  "memory-limit",
  "disk-limit",
  "process-limit",
  "output-limit",
] as const;

/** Programs that turn on what judges them: its files, its limits, what it asks and is answered by. None may fail it: whatever a program does is its answer. */
export const judged: readonly Escape[] = [
  {
    name: "puts folders in place of the judge's files",
    code: toEach(`${clear}\nos.makedirs(path + '/full/of/folders')`),
  },
  {
    name: "puts a file in place of the judge's folder",
    code: () => "import shutil\nshutil.rmtree('judge')\nopen('judge', 'w').write('x')",
  },
  {
    name: "puts links in place of the judge's files",
    code: toEach(`${clear}\nos.symlink('/dev/full', path)`),
  },
  {
    name: "puts links that lead round in a circle",
    code: toEach(`${clear}\nos.symlink(os.path.basename(path), path)`),
  },
  { name: "puts links to nothing", code: toEach(`${clear}\nos.symlink('/no/such/folder', path)`) },
  {
    name: "puts links to the first process's memory",
    code: toEach(`${clear}\nos.symlink('/proc/self/mem', path)`),
  },
  { name: "puts links to the system's files", code: toEach(`${clear}\nos.symlink('/usr/bin/env', path)`) },
  {
    name: "puts hard links",
    code: toEach(`${clear}\nopen('other', 'w').write('x')\nos.link('other', path)`),
  },
  { name: "puts pipes in place of the judge's files", code: toEach(`${clear}\nos.mkfifo(path)`) },
  {
    name: "puts sockets in place of the judge's files",
    code: toEach(`${clear}\nsocket.socket(socket.AF_UNIX).bind(path)`),
  },
  { name: "takes all rights to the judge's files", code: toEach("os.chmod(path, 0)") },
  {
    name: "takes all rights to the working folder",
    code: () => "import os\nos.chmod('judge.txt', 0)\nos.chmod('/work', 0)",
  },
  {
    name: "lets nobody enter a folder that can be read",
    code: () => "import os\nopen('judge/more', 'w').close()\nos.chmod('judge', 0o444)",
  },
  {
    name: "lets nobody read a folder that can be entered",
    code: () => "import os\nos.chmod('judge', 0o111)\nos.chmod('/work', 0o311)",
  },
  {
    name: "makes all folders read-only",
    code: () => "import os\nos.chmod('judge', 0o555)\nos.chmod('/work', 0o555)",
  },
  {
    name: "renames the judge's files",
    code: () => "import os\nos.rename('judge', 'other')\nos.rename('judge.txt', 'other.txt')",
  },
  {
    name: "removes all that there is",
    code: () =>
      "import os, shutil\nfor name in os.listdir('.'):\n    shutil.rmtree(name, ignore_errors=True)\n    if os.path.lexists(name): os.unlink(name)",
  },
  {
    name: "puts a folder deeper than can be named in place of the judge's file",
    told: anyLimit,
    code: () =>
      "import os\nos.unlink('judge.txt')\nos.mkdir('judge.txt')\nos.chdir('judge.txt')\nfor _ in range(300):\n    os.mkdir('d' * 100)\n    os.chmod('d' * 100, 0o700)\n    os.chdir('d' * 100)\nopen('x', 'w').close()",
  },
  {
    name: "hides a file where its path is too long",
    told: anyLimit,
    code: () =>
      "import os\nfor _ in range(30):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\nopen('x' * 200, 'w').write('x')",
  },
  {
    name: "has files with the longest names",
    told: anyLimit,
    isHeavy: true,
    code: () =>
      "import os\nfor _ in range(10):\n    os.mkdir('d' * 250)\n    os.chdir('d' * 250)\nfor n in range(5000): open(f'{n:0250}', 'w').close()",
  },
  {
    name: "gives files names that are no text",
    told: anyLimit,
    code: () =>
      "import os\nfor name in (b'\\xff\\xfe', b'caf\\xe9', b'\\xed\\xa0\\x80', b'a\\nb', b'\\\\', b' ', b'\\x7f\\x1b[2J', 'é'.encode(), b'__proto__', b'constructor', b'-rf'):\n    open(name, 'w').close()",
  },
  {
    name: "leaves a file of holes",
    told: anyLimit,
    code: () => "open('judge.txt', 'wb').truncate(8 << 20)\nopen('holes', 'wb').truncate(8 << 20)",
  },
  {
    name: "leaves no room for the judge's files",
    told: anyLimit,
    fillsDisk: true,
    code: () =>
      "for name in ('/work/full', '/tmp/full'):\n    try:\n        f = open(name, 'wb', buffering=0)\n        while True: f.write(bytes(4096))\n    except OSError: pass",
  },
  {
    name: "locks the judge's file",
    keep: true,
    code: () =>
      "import fcntl\nf = open('judge.txt', 'r+')\nfcntl.flock(f, fcntl.LOCK_EX)\ntry: fcntl.fcntl(f, 1024, 1)\nexcept (OSError, ValueError): pass",
  },
  {
    name: "puts folders in place of the judge's files again and again",
    keep: true,
    told: anyLimit,
    mayLoseFiles: true,
    code: () =>
      "import os, threading, time, shutil\ndef work():\n    while True:\n        for path in ('judge.txt', 'judge'):\n            try:\n                if not os.path.isdir(path): os.unlink(path)\n                os.makedirs(path, exist_ok=True)\n                os.chmod(path, 0)\n            except Exception: pass\ntry:\n    if os.fork() == 0: work()\nexcept Exception: print('no processes')",
  },

  syscall("takes files from the first process", 302, "1", "7", "(ctypes.c_uint64 * 2)(3, 3)", "0"),
  syscall("takes memory from the first process", 302, "1", "9", "(ctypes.c_uint64 * 2)(1, 1)", "0"),
  syscall("takes time from the first process", 302, "1", "0", "(ctypes.c_uint64 * 2)(0, 0)", "0"),
  syscall("takes file sizes from the first process", 302, "1", "1", "(ctypes.c_uint64 * 2)(0, 0)", "0"),
  syscall("takes limits from its parent", 302, "libc.getppid()", "7", "(ctypes.c_uint64 * 2)(3, 3)", "0"),
  {
    name: "takes limits from the first process by a program",
    language: "shell",
    code: () =>
      "prlimit --pid 1 --nofile=3:3 2>/dev/null && echo ESCAPED; prlimit --pid $PPID --as=1:1 2>/dev/null && echo ESCAPED; true",
  },
  syscall("makes the first process wait", 141, "0", "1", "19"),
  syscall("makes all processes of its user wait", 141, "2", "0", "19"),
  syscall("makes the first process idle", 144, "1", "5", "(ctypes.c_int * 1)(0)"),
  syscall("gives the first process no processor", 203, "1", "8", "(ctypes.c_uint64 * 1)(1)"),
  syscall("schedules the first process by attributes", 314, "1", "(ctypes.c_uint32 * 12)(48, 5)", "0"),
  syscall("makes the first process wait for its disk", 251, "1", "1", "3 << 13"),
  {
    name: "limits and schedules itself",
    told: ["finished"],
    meansNothingInWasm: "it has no scheduling",
    code: () =>
      "import os, resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nresource.setrlimit(resource.RLIMIT_CPU, (5, 5))\nos.sched_setaffinity(0, os.sched_getaffinity(0))\nassert resource.getrlimit(resource.RLIMIT_NOFILE) == (64, 64)",
  },
  {
    name: "sends the first process every signal",
    told: either,
    code: () =>
      "import os\nfor number in range(1, 65):\n    try: os.kill(1, number)\n    except Exception: pass",
  },
  {
    name: "sends everybody every signal",
    told: anyLimit,
    code: () =>
      "import os, signal\nfor number in range(1, 65):\n    if number not in (9, 19):\n        try:\n            signal.signal(number, signal.SIG_IGN)\n            os.kill(-1, number)\n        except Exception: pass",
  },
  {
    name: "stops itself",
    told: ["time-limit"],
    toldInWasm: either,
    code: () => "import os, signal\nos.kill(os.getpid(), getattr(signal, 'SIGSTOP', 19))",
  },
  { name: "aborts", told: ["failed", "ended"], code: () => "import os\nos.abort()" },
  { name: "aborts what is kept", keep: true, told: ["ended"], code: () => "import os\nos.abort()" },
  { name: "ends by a signal", language: "shell", told: ["failed"], code: () => "kill -SEGV $$" },
  {
    name: "leaves processes that hold all it had open",
    told: anyLimit,
    code: () =>
      "import os, time\ntry:\n    for _ in range(3):\n        if os.fork() == 0:\n            os.setsid()\n            if os.fork() == 0:\n                while True:\n                    try: time.sleep(1)\n                    except BaseException: pass\n            os._exit(0)\nexcept Exception: pass",
  },

  {
    name: "opens all files that it may",
    told: anyLimit,
    code: () => "import os\nfds = []\ntry:\n    while True: fds.append(os.dup(1))\nexcept OSError: pass",
  },
  {
    name: "makes all processes that it may, and stays",
    keep: true,
    told: anyLimit,
    mayLoseFiles: true,
    isHeavy: true,
    code: () =>
      "import os, time\ntry:\n    while True:\n        if os.fork() == 0:\n            while True: time.sleep(1)\nexcept Exception: pass",
  },
  {
    name: "prints what ends texts",
    told: ["finished"],
    code: () => "print('\\0' * 1000, '\\x1b[2J', '\\ud800'.encode('utf-8', 'surrogatepass'))",
  },
  {
    name: "has a value that is no text",
    keep: true,
    told: either,
    code: () => "class Evil:\n    def __repr__(self): return '\\ud800\\0' * 100\nEvil()",
  },
  {
    name: "answers what is nested too deep",
    keep: true,
    told: anyLimit,
    code: () =>
      "import os\nfor fd in range(3, 16):\n    try: os.write(fd, b'[' * 100000 + b'\\n')\n    except OSError: pass",
  },
  {
    name: "answers numbers that are none",
    keep: true,
    told: anyLimit,
    code: () =>
      `import os\nfor fd in range(3, 16):\n    try: os.write(fd, b'{"code": 1${"0".repeat(400)}, "error": null, "errno": null, "value": "FORGED"}\\n')\n    except OSError: pass`,
  },
  {
    name: "answers bytes that are no text",
    keep: true,
    told: anyLimit,
    code: () =>
      "import os\nfor fd in range(3, 16):\n    try: os.write(fd, b'\\xff\\xfe\\0{\"code\"\\n')\n    except OSError: pass",
  },
  {
    name: "answers, and is silent at its end",
    told: anyLimit,
    code: () =>
      `import os\nfor fd in range(3, 16):\n    try: os.write(fd, b'{"code": 0, "error": null, "errno": null, "value": 5}\\n')\n    except OSError: pass\nos._exit(3)`,
  },
  {
    name: "breaks Python for who runs it",
    keep: true,
    told: anyLimit,
    code: () =>
      "import sys, builtins, json, ast, os\nfor name in list(sys.modules):\n    if name not in ('sys', 'builtins', '__main__'): sys.modules[name] = None\nsys.excepthook = sys.displayhook = None\nsys.stdout = sys.stderr = sys.stdin = None\nos._exit = os.write = None\nfor name in ('compile', 'eval', 'exec', 'repr', 'BaseException', 'isinstance'): setattr(builtins, name, None)",
  },
  {
    name: "has an exit code that can't be told",
    told: either,
    code: () =>
      "class Evil(int):\n    def __and__(self, other): raise Evil2()\n    def __bool__(self): raise Evil2()\n    __int__ = __index__ = __bool__\nclass Evil2(BaseException): pass\nraise SystemExit(Evil(0))",
  },
  {
    name: "waits when it is thrown away",
    told: ["time-limit"],
    toldInWasm: ["finished", "time-limit"],
    code: () =>
      "import time, sys\nclass Evil:\n    def __del__(self):\n        while True: time.sleep(1)\nkept = Evil()\nsys.stdout = kept\nsys.stdout = None\ndel kept",
  },
  {
    name: "has a value without an end",
    told: ["time-limit", "memory-limit"],
    code: () => "class Evil:\n    def __repr__(self):\n        while True: pass\nEvil()",
  },
  { name: "interrupts itself", told: ["failed"], code: () => "raise KeyboardInterrupt()" },
  { name: "ends by what is no error", told: ["failed"], code: () => "raise BaseException('x')" },
  { name: "ends by a generator's end", told: ["failed"], code: () => "raise GeneratorExit()" },

  {
    name: "never runs out of promises",
    language: "javascript",
    told: ["time-limit", "memory-limit"],
    code: () => "const f = () => Promise.resolve().then(f); f()",
  },
  {
    name: "never runs out of microtasks",
    language: "javascript",
    told: ["time-limit", "memory-limit"],
    code: () => "const f = () => queueMicrotask(f); f()",
  },
  {
    name: "never runs out of microtasks, and catches what ends them",
    language: "javascript",
    told: ["time-limit", "memory-limit"],
    code: () => "const f = () => Promise.resolve().then(f).catch(f); f(); f()",
  },
  {
    name: "waits for a generator without an end",
    language: "javascript",
    told: ["time-limit", "memory-limit"],
    code: () => "(async () => { for await (const _ of (async function* () { for (;;) yield 1; })()); })()",
  },
  {
    name: "never runs out of promises, in a module",
    language: "javascript",
    told: ["time-limit", "memory-limit"],
    code: () => "const f = () => Promise.resolve().then(f);\nawait f();",
  },
  {
    name: "never runs out of timers",
    language: "javascript",
    told: ["time-limit", "memory-limit"],
    code: () => "setInterval(() => {}, 0)",
  },
  {
    name: "never runs out of microtasks, where it is kept",
    language: "javascript",
    keep: true,
    told: ["time-limit", "memory-limit", "ended", "finished"],
    toldInWasm: ["time-limit", "memory-limit"],
    code: () => "const f = () => Promise.resolve().then(f); f()",
  },
  {
    name: "never runs out of microtasks, and exits",
    language: "javascript",
    told: ["finished", "failed"],
    code: () => "const f = () => Promise.resolve().then(f); f(); process.exit(3)",
  },
  {
    name: "never runs out of callbacks",
    told: ["time-limit", "memory-limit"],
    code: () =>
      "import asyncio\nasync def main():\n    loop = asyncio.get_running_loop()\n    def f(): loop.call_soon(f)\n    f()\n    await asyncio.sleep(1e6)\nasyncio.run(main())",
  },
  {
    name: "never runs out of coroutines",
    told: ["time-limit", "memory-limit"],
    code: () => "import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nasyncio.run(f())",
  },
  {
    name: "never runs out of coroutines, and catches what ends them",
    told: ["time-limit", "memory-limit"],
    code: () =>
      "import asyncio\nasync def f():\n    while True:\n        try: await asyncio.sleep(0)\n        except BaseException: pass\nwhile True:\n    try: asyncio.run(f())\n    except BaseException: pass",
  },
  {
    name: "catches its interrupt, and finishes",
    keep: true,
    told: ["time-limit"],
    code: () => "try:\n    while True: pass\nexcept KeyboardInterrupt: pass\n1",
  },
];
