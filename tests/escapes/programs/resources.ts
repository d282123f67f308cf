import type { Escape } from "../escape.ts";

const timeLimit = ["time-limit"] as const;
const memoryLimit = ["memory-limit", "failed", "ended", "process-limit", "time-limit"] as const;
const outputLimit = ["output-limit"] as const;
const diskLimit = ["disk-limit", "memory-limit", "failed", "time-limit"] as const;

/** More time, memory, output and files than are given. */
export const resources: readonly Escape[] = [
  { name: "never ends", isHeavy: true, told: timeLimit, code: () => "while True: pass" },
  { name: "sleeps", told: timeLimit, code: () => "import time\ntime.sleep(1e6)" },
  {
    name: "never ends, and heeds no interrupt",
    isHeavy: true,
    keep: true,
    told: timeLimit,
    code: () => "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
  },
  {
    name: "searches without end",
    isHeavy: true,
    told: timeLimit,
    code: () => "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
  },
  {
    name: "counts too far",
    isHeavy: true,
    told: ["time-limit", "memory-limit"],
    code: () => "10 ** 10 ** 10",
  },
  {
    name: "never ends in JavaScript",
    language: "javascript",
    isHeavy: true,
    told: timeLimit,
    code: () => "for (;;);",
  },
  {
    name: "searches without end in JavaScript",
    language: "javascript",
    isHeavy: true,
    told: timeLimit,
    code: () => "/(a+)+$/.test('a'.repeat(60) + 'b')",
  },
  {
    name: "never ends in a shell",
    language: "shell",
    isHeavy: true,
    told: timeLimit,
    code: () => "trap '' TERM INT; while :; do :; done",
  },
  {
    name: "waits at its end",
    told: timeLimit,
    toldInWasm: ["finished"], // the interpreter is thrown away, and never comes to its end
    code: () => "import atexit, time\natexit.register(time.sleep, 1e6)",
  },
  {
    name: "waits in a thread",
    told: timeLimit,
    toldInWasm: ["failed"], // it has no threads
    code: () => "import threading, time\nthreading.Thread(target=time.sleep, args=(1e6,)).start()",
  },
  { name: "asks for all memory", told: ["memory-limit", "failed"], code: () => "bytearray(1 << 40)" },
  {
    name: "takes memory bit by bit",
    told: memoryLimit,
    code: () => "a = []\nwhile True: a.append(bytearray(1 << 20))",
  },
  {
    name: "shares memory with nobody",
    told: memoryLimit,
    code: () =>
      "import mmap\na = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 22)\n    m.write(b'x' * (1 << 22))\n    a.append(m)",
  },
  {
    name: "takes memory in many processes",
    isHeavy: true,
    told: [...memoryLimit, "finished"],
    code: () =>
      "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n        a = []\n        try:\n            while len(a) < 60: a.append(bytearray(b'x') * (1 << 20))\n        except MemoryError: pass\n        time.sleep(100)\ntime.sleep(100)",
  },
  {
    name: "takes memory that is no process's",
    told: [...memoryLimit, "finished"],
    code: () =>
      "import os\nfds = []\ntry:\n    while True:\n        fd = os.memfd_create('x')\n        os.write(fd, bytes(1 << 22))\n        fds.append(fd)\nexcept (OSError, AttributeError) as error: print(type(error).__name__)",
  },
  {
    name: "takes System V's memory",
    code: () =>
      "try:\n    import ctypes\n    result = ctypes.CDLL(None).shmget(0, 1 << 20, 0o1600)\n    print('refused' if result == -1 else 'ESCAPED')\nexcept Exception as error: print(type(error).__name__)",
  },
  {
    name: "takes memory in JavaScript",
    language: "javascript",
    isHeavy: true,
    told: memoryLimit,
    code: () => "const a = []; for (;;) a.push(new Array(1e5).fill(a.length))",
  },
  {
    name: "takes buffers in JavaScript",
    language: "javascript",
    isHeavy: true,
    told: memoryLimit,
    code: () => "const a = []; for (;;) a.push(Buffer.alloc(1 << 22, 1))",
  },
  { name: "calls itself without end", told: ["failed"], code: () => "def f(): return f()\nf()" },
  {
    name: "calls itself without end, and without limit",
    told: ["failed", "ended", "memory-limit", "time-limit"],
    code: () => "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()",
  },
  { name: "prints without end", told: outputLimit, code: () => "while True: print('x' * 1000)" },
  {
    name: "complains without end",
    told: outputLimit,
    code: () => "import sys\nwhile True: print('x' * 1000, file=sys.stderr)",
  },
  { name: "prints one long line", told: outputLimit, code: () => "print('x' * 10_000_000)" },
  {
    name: "prints without end in JavaScript",
    language: "javascript",
    told: outputLimit,
    code: () => "for (;;) console.log('x'.repeat(1000))",
  },
  { name: "prints without end in a shell", language: "shell", told: outputLimit, code: () => "yes" },
  { name: "has a long value", told: ["finished"], code: () => "'x' * 1_000_000" },
  {
    name: "prints what is no text",
    told: ["finished"],
    code: () => "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 4) and None",
  },
  {
    name: "fills the working folder",
    told: diskLimit,
    code: () => "f = open('f', 'wb')\nwhile True: f.write(bytes(1 << 20))",
  },
  {
    name: "fills it by several files",
    told: diskLimit,
    code: () => "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'wb').write(bytes(1 << 20))",
  },
  {
    name: "fills the temporary folder",
    told: diskLimit,
    code: () => "f = open('/tmp/f', 'wb')\nwhile True: f.write(bytes(1 << 20))",
  },
  {
    name: "makes files without end",
    isHeavy: true,
    told: diskLimit,
    code: () => "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'w').close()",
  },
  {
    name: "makes folders in folders",
    told: [...diskLimit, "finished"],
    code: () => "import os\nfor _ in range(5000):\n    os.mkdir('d')\n    os.chdir('d')",
  },
  {
    name: "makes a file of holes",
    told: diskLimit,
    code: () => "f = open('f', 'wb')\nf.truncate(1 << 50)\nf.seek(1 << 49)\nf.write(b'x')\nf.flush()",
  },
];
