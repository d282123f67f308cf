import type { Escape } from "../escape.ts";

/** Signals to others, and processes that stay. */
export const processes: readonly Escape[] = [
  {
    name: "kills a process of the machine",
    code: ({ victim }) =>
      `import os\ntry: os.kill(${victim}, 9); print('ESCAPED')\nexcept (OSError, AttributeError) as error: print(type(error).__name__)`,
  },
  {
    name: "kills its parent",
    told: ["finished", "failed", "ended"],
    code: () => "import os\ntry: os.kill(os.getppid(), 9)\nexcept (OSError, AttributeError): pass",
  },
  {
    name: "stops its parent",
    told: ["finished", "failed", "ended"],
    code: () =>
      "import os, signal\ntry: os.kill(os.getppid(), signal.SIGSTOP)\nexcept (OSError, AttributeError): pass",
  },
  {
    name: "kills everybody",
    told: ["finished", "failed", "ended"],
    code: () => "import os\ntry: os.kill(-1, 9)\nexcept (OSError, AttributeError): pass",
  },
  {
    name: "kills its group",
    told: ["finished", "failed", "ended"],
    code: () => "import os\ntry: os.killpg(0, 9)\nexcept (OSError, AttributeError): pass",
  },
  {
    name: "kills itself",
    told: ["finished", "failed", "ended"],
    code: () => "import os\ntry: os.kill(os.getpid(), 9)\nexcept (OSError, AttributeError): pass",
  },
  {
    name: "reads others' command lines",
    code: ({ victimName }) =>
      `import os\nfor pid in (os.listdir('/proc') if os.path.isdir('/proc') else []):\n    try: text = open(f'/proc/{pid}/cmdline').read()\n    except OSError: continue\n    if '${victimName}'[:8] in text and '${victimName}'[8:] in text and 'everturn-' + 'victim' in text: print('ESCAPED', pid)`,
  },
  {
    name: "leaves a process behind",
    keep: false,
    code: () =>
      "import os, time\ntry: pid = os.fork()\nexcept (OSError, AttributeError): pid = 1\nif pid == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: time.sleep(1)\n    os._exit(0)",
    afterwards: [
      {
        code: "import os\nlen([p for p in os.listdir('/proc') if p.isdigit()]) if os.path.exists('/proc/1') else 2",
        value: "2",
      },
    ],
  },
  {
    name: "leaves one behind that holds its output",
    language: "shell",
    code: () => "(trap '' TERM HUP INT; sleep 1000) & nohup sleep 1000 & echo done",
    afterwards: [{ code: "import os\nlen([p for p in os.listdir('/proc') if p.isdigit()])", value: "2" }],
  },
  {
    name: "forks without end",
    isHeavy: true,
    told: ["failed", "process-limit", "memory-limit", "time-limit"],
    code: () => "import os\nwhile True: os.fork()",
  },
  {
    name: "forks without end, and minds nothing",
    isHeavy: true,
    told: ["failed", "process-limit", "memory-limit", "time-limit"],
    code: () => "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
  },
  {
    name: "is a fork bomb in a shell",
    language: "shell",
    isHeavy: true,
    told: ["finished", "failed", "process-limit", "memory-limit", "time-limit", "output-limit"],
    code: () => "f() { f | f & }; f; sleep 100",
  },
  {
    name: "makes threads without end",
    isHeavy: true,
    told: ["failed", "process-limit", "memory-limit", "time-limit"],
    code: () =>
      "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(100,)).start()",
  },
];
