// A thread with a Python interpreter, Pyodide. The thread looks like a browser's to Pyodide. Its messages to
// the main thread are the only way out.
import { BoundedOutput } from "./bounded-output.ts";
import { boundFiles } from "./file-quota.ts";
import { lockDown, looksLikeBrowser, send } from "./lock-down.ts";
import type { GuestRan, Load, PythonParts, Run, ToInterpreter } from "./protocol.ts";
import type { Pyodide, RunProgram } from "./pyodide-parts.ts";
import { PythonFiles, workFolder } from "./python-files.ts";

const mebibyte = 2 ** 20;
const packagesPath = "/lib/packages.zip";
const output = new BoundedOutput(send);
let running: Promise<Ready> | undefined;

interface Ready {
  execute: RunProgram;
  files: PythonFiles;
  /** Reopens standard input, because a program may close it. */
  takeInput(text: string): void;
}

addEventListener("message", async ({ data }: { data: ToInterpreter }) => {
  if (data.type === "load") {
    running = load(data.load);
    await running.catch((error: unknown) => send({ type: "unusable", reason: String(error) }));
  } else if (running !== undefined) send(await run(await running, data.run));
});

async function load({ python, disk, interrupt }: Load): Promise<Ready> {
  if (python === undefined) throw new Error("Python has no parts");
  const pyodide = await start(python);
  let snapshot: Uint8Array<ArrayBuffer> | undefined;
  if (python.snapshot === undefined) {
    if (python.packages !== undefined) pyodide.runPython(`import sys; sys.path.append("${packagesPath}")`);
    pyodide.runPython(python.warm);
    snapshot = pyodide.makeMemorySnapshot();
  }
  pyodide.FS.mkdirTree(workFolder);
  pyodide.FS.chdir(workFolder);
  pyodide.setInterruptBuffer(new Uint8Array(interrupt));
  for (const stream of ["stdout", "stderr"] as const) {
    const write = (bytes: Uint8Array) => {
      output.write(stream, bytes);
      return bytes.length;
    };
    pyodide[stream === "stdout" ? "setStdout" : "setStderr"]({ write, isatty: false });
  }
  closeDoors(pyodide);
  const globals = pyodide.toPy({});
  pyodide.runPython(python.driver, { globals });
  const files = new PythonFiles(pyodide.FS);
  boundFiles(pyodide.FS, disk * mebibyte, (node) => files.written(node));
  lockDown();
  send({ type: "ready", ...(snapshot === undefined ? {} : { snapshot }) });
  return { execute: globals.get("run"), files, takeInput: (text) => giveInput(pyodide, text) };
}

/** The input of file descriptor 0. `open(0)`, `os.read(0, …)` and `input()` share it. */
function giveInput(pyodide: Pyodide, text: string): void {
  let left = new TextEncoder().encode(text);
  const read = (buffer: Uint8Array) => {
    const some = left.subarray(0, buffer.length);
    buffer.set(some);
    left = left.subarray(some.length);
    return some.length;
  };
  pyodide.setStdin({ read, isatty: false });
}

/** Removes Python's access to JavaScript, except for what `asyncio` needs. */
function closeDoors(pyodide: Pyodide): void {
  const { scheduleCallback, config } = pyodide._api;
  const { enableRunUntilComplete } = config;
  pyodide.unregisterJsModule("pyodide_js");
  pyodide.registerJsModule("pyodide_js", { _api: { scheduleCallback, config: { enableRunUntilComplete } } });
}

async function start(python: PythonParts): Promise<Pyodide> {
  const home = new URL("./", import.meta.url).href;
  looksLikeBrowser();
  const { module, library, packages, snapshot } = python;
  Object.assign(globalThis, {
    fetch: async (_url: string) => ({ ok: true, arrayBuffer: async () => library.slice().buffer }),
  });
  Object.assign(WebAssembly, {
    instantiateStreaming: async (_response: unknown, imports: object) => ({
      module,
      instance: await WebAssembly.instantiate(module, imports),
    }),
  });
  const { loadPyodide } = await import(`${home}pyodide.mjs`);
  const { default: createPyodideModule } = await import(`${home}pyodide.asm.mjs`);
  return loadPyodide({
    indexURL: home,
    createPyodideModule,
    lockFileContents: { info: python.info, packages: {} },
    jsglobals: Object.create(null),
    env: { HOME: workFolder, PYTHONHASHSEED: "0" },
    fsInit: (fileSystem: Pyodide["FS"]) => {
      if (packages !== undefined) fileSystem.writeFile(packagesPath, packages);
    },
    ...(snapshot === undefined ? { _makeSnapshot: true } : { _loadSnapshot: snapshot }),
  });
}

/** Runs a program. If it brings the interpreter down, that is reported as its end. */
async function run(
  { execute, files, takeInput }: Ready,
  { code, stdin, output: characters, put, removed }: Omit<Run, "type" | "language">,
): Promise<Omit<GuestRan, "seconds">> {
  output.begin(characters);
  try {
    files.take(put, removed);
    takeInput(stdin);
    send({ type: "begun" });
    const answer = await execute.callPromising(code);
    send({ type: "over" });
    const [outcome, value, exitCode] = answer.toJs();
    answer.destroy();
    return {
      type: "ran",
      outcome: outcomeOf(outcome),
      ...(typeof value === "string" ? { value: value.slice(0, characters) } : {}),
      ...(typeof exitCode === "number" ? { exitCode } : {}),
      ...files.changes(),
      lost: false,
    };
  } catch (error) {
    output.text("stderr", `${error instanceof Error ? error.message : String(error)}\n`);
    return { type: "ran", outcome: "ended", put: {}, removed: [], lost: true };
  } finally {
    output.end();
  }
}

function outcomeOf(said: unknown): GuestRan["outcome"] {
  return said === "finished" || said === "memory-limit" || said === "disk-limit" ? said : "failed";
}
