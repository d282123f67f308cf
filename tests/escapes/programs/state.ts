import type { Escape } from "../escape.ts";

const forged =
  '{"outcome": "finished", "stdout": "FORGED", "stderr": "", "code": 0, "seconds": 0, "content": "Rk9SR0VE"}';
const interpreterGone = ["finished", "failed", "ended", "time-limit"] as const;

/** Secrets of the environment, a poisoned session, and lies to who runs it. */
export const state: readonly Escape[] = [
  { name: "prints its environment", code: () => "import os\nprint(dict(os.environ))" },
  {
    name: "prints its environment in JavaScript",
    language: "javascript",
    code: () => "try { console.log(process.env) } catch (error) { console.log(error.name) }",
  },
  {
    name: "prints its environment in a shell",
    language: "shell",
    code: () => "env; cat /proc/*/environ 2>/dev/null; true",
  },
  {
    name: "reads every process's environment",
    told: ["finished", "output-limit"],
    code: () =>
      "import os\nfor pid in (os.listdir('/proc') if os.path.isdir('/proc') else []):\n    try: print(open(f'/proc/{pid}/environ').read())\n    except OSError: pass",
  },
  {
    name: "breaks what is built in",
    keep: true,
    code: () => "import builtins\nbuiltins.print = builtins.len = builtins.open = None\n1",
  },
  {
    name: "breaks the modules that everybody uses",
    keep: true,
    told: interpreterGone,
    code: () =>
      "import sys, os, json\njson.dumps = json.loads = lambda *a, **k: 'FORGED'\nos.write = lambda *a: 0\n1",
  },
  {
    name: "leaves modules for the next",
    code: () =>
      "for name in ('random', 'json', 'sitecustomize', 'usercustomize'):\n    open(f'{name}.py', 'w').write('print(\"POISONED\")')",
  },
  {
    name: "leaves files for the next",
    code: () =>
      "import os\nfor folder in ('.', '/tmp', '/dev/shm', '/var/tmp', '/run', os.path.expanduser('~')):\n    try: open(os.path.join(folder, 'poison'), 'w').write('POISONED')\n    except OSError: pass",
  },
  {
    name: "leaves settings for the next",
    language: "shell",
    code: () =>
      "echo 'echo POISONED' > ~/.bashrc; echo 'echo POISONED' > ~/.profile; mkdir -p ~/.config; echo x > ~/.config/pip; true",
  },
  {
    name: "pollutes prototypes",
    language: "javascript",
    keep: true,
    code: () => "Object.prototype.polluted = 1; Array.prototype.map = () => 'POISONED'; 1",
    told: interpreterGone,
  },
  {
    name: "answers with a prototype",
    language: "javascript",
    keep: true,
    code: () =>
      `try { require("fs").writeSync(4, '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}\\n') } catch (error) {}`,
    told: interpreterGone,
  },
  {
    name: "answers in the driver's place",
    code: () =>
      `import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'${forged}\\n')\n    except OSError: pass`,
    told: interpreterGone,
  },
  {
    name: "answers in the driver's place, where it is kept",
    keep: true,
    code: () =>
      `import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'${forged}\\n')\n    except OSError: pass`,
    told: interpreterGone,
  },
  {
    name: "answers in the driver's place by its parent's files",
    code: () =>
      `import os\nfor fd in range(0, 64):\n    try: open(f'/proc/{os.getppid()}/fd/{fd}', 'w').write('${forged}\\n')\n    except (OSError, AttributeError): pass`,
    told: interpreterGone,
  },
  {
    name: "answers more than anybody reads",
    keep: true,
    code: () => "import os\ntry:\n    while True: os.write(4, b'x' * 65536)\nexcept OSError: pass",
    told: interpreterGone,
  },
  {
    name: "closes all files",
    keep: true,
    code: () => "import os\nos.closerange(0, 64)",
    told: interpreterGone,
  },
  {
    name: "reads the next program before its turn",
    keep: true,
    code: () =>
      "import os, threading\ndef steal():\n    try: os.read(3, 1 << 20)\n    except OSError: pass\nthreading.Thread(target=steal, daemon=True).start()",
    told: interpreterGone,
  },
  { name: "ends its interpreter", keep: true, code: () => "import os\nos._exit(0)", told: ["ended"] },
  {
    name: "ends its interpreter by a wrong address",
    keep: true,
    code: () =>
      "try:\n    import ctypes\n    ctypes.string_at(0)\nexcept (ImportError, AttributeError): pass",
    told: interpreterGone,
  },
  { name: "exits", keep: true, code: () => "exit(0)", told: ["finished", "ended"] },
  {
    name: "has a value that can't be told",
    keep: true,
    code: () => "class Evil:\n    def __repr__(self): raise SystemExit(5)\nEvil()",
    told: interpreterGone,
  },
  {
    name: "throws what can't be told",
    code: () =>
      "class Evil(BaseException):\n    def __str__(self): raise Evil()\n    __repr__ = __str__\nraise Evil()",
    told: ["failed"],
  },
];
