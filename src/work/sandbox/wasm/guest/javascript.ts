// A thread with a JavaScript interpreter: QuickJS in WebAssembly. A program sees QuickJS's own globals and
// those of prelude.quickjs.
import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from "quickjs-emscripten-core";
import { BoundedOutput } from "./bounded-output.ts";
import { JavascriptFiles } from "./javascript-files.ts";
import { lockDown, looksLikeBrowser, send } from "./lock-down.ts";
import type { GuestRan, Load, Run, ToInterpreter } from "./protocol.ts";

const mebibyte = 2 ** 20;
const stack = 256 * 1024;
/** Milliseconds between two checks whether a program that waits for a timer must stop. */
const slice = 50;
/** The number of promise jobs between two checks whether the program must stop or has exited. */
const mostJobs = 1000;
const output = new BoundedOutput(send);
let running: Promise<Ready> | undefined;

interface Ready {
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  /** The functions of prelude.quickjs for the host. */
  prelude: QuickJSHandle;
  files: JavascriptFiles;
  /** The program must stop if this is not 0. */
  flag: Uint8Array;
  /** Nothing wakes this wait. */
  stop: Int32Array;
  /** How the program ended itself. */
  exit: { code: number | undefined; stdin: string };
}

addEventListener("message", async ({ data }: { data: ToInterpreter }) => {
  if (data.type === "load") {
    running = load(data.load);
    const tellUnusable = (error: unknown) => send({ type: "unusable", reason: String(error) });
    await running.then(() => send({ type: "ready" }), tellUnusable);
  } else if (running !== undefined) send(run(await running, data.run));
});

async function load({ memory, disk, interrupt, prelude: source = "" }: Load): Promise<Ready> {
  looksLikeBrowser();
  const module = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = module.newRuntime();
  runtime.setMemoryLimit(memory * mebibyte);
  runtime.setMaxStackSize(stack);
  const flag = new Uint8Array(interrupt);
  runtime.setInterruptHandler(() => flag[0] !== 0);
  const context = runtime.newContext();
  const files = new JavascriptFiles(disk * mebibyte);
  const exit: Ready["exit"] = { code: undefined, stdin: "" };
  const host = hostObject(context, files, exit);
  const make = context.unwrapResult(context.evalCode(source, "<prelude>"));
  const prelude = context.unwrapResult(context.callFunction(make, context.undefined, host));
  lockDown();
  return { runtime, context, prelude, files, flag, stop: new Int32Array(new SharedArrayBuffer(4)), exit };
}

/** The functions that prelude.quickjs calls. */
function hostObject(context: QuickJSContext, files: JavascriptFiles, exit: Ready["exit"]): QuickJSHandle {
  const host = context.newObject();
  const add = (name: string, answer: (...values: QuickJSHandle[]) => QuickJSHandle | undefined) =>
    context.newFunction(name, answer).consume((handle) => context.setProp(host, name, handle));
  const text = (handle: QuickJSHandle | undefined) => (handle === undefined ? "" : context.getString(handle));
  const truth = (value: boolean) => (value ? context.true : context.false);
  const isInput = (path: string) => path === "0" || path === "/dev/stdin";
  add("write", (stream, said) => {
    output.text(text(stream) === "stderr" ? "stderr" : "stdout", text(said));
    return undefined;
  });
  add("exit", (code) => {
    exit.code = code === undefined ? 0 : context.getNumber(code) & 255;
    return undefined;
  });
  add("read", (path, asText) => {
    const name = text(path);
    const content = isInput(name) ? new TextEncoder().encode(exit.stdin) : files.read(name);
    if (content === undefined) return context.undefined;
    if (asText !== undefined && context.dump(asText) === true)
      return context.newString(new TextDecoder().decode(content));
    const buffer = context.newArrayBuffer(content.slice().buffer);
    const bytes = context.getProp(context.global, "Uint8Array");
    return context.unwrapResult(context.evalCode("(buffer) => new Uint8Array(buffer)")).consume((make) => {
      bytes.dispose();
      return context.unwrapResult(context.callFunction(make, context.undefined, buffer));
    });
  });
  add("put", (path, content, append) => {
    const value = content === undefined ? "" : context.dump(content);
    const bytes = typeof value === "string" ? new TextEncoder().encode(value) : Uint8Array.from(value);
    const isMore = append !== undefined && context.dump(append) === true;
    return context.newString(files.put(text(path), bytes, isMore));
  });
  add("exists", (path) => truth(files.exists(text(path))));
  add("remove", (path) => truth(files.remove(text(path))));
  add("names", (path) => {
    const names = context.newArray();
    files.names(text(path)).forEach((name, index) => {
      context.newString(name).consume((handle) => context.setProp(names, index, handle));
    });
    return names;
  });
  return host;
}

function run(
  ready: Ready,
  { code, stdin, output: characters, put, removed }: Omit<Run, "type" | "language">,
): Omit<GuestRan, "seconds"> {
  const { files, exit } = ready;
  exit.code = undefined;
  exit.stdin = stdin;
  output.begin(characters);
  try {
    files.take(put, removed);
    send({ type: "begun" });
    const { outcome, value } = execute(ready, code);
    call(ready, "forget")?.dispose();
    send({ type: "over" });
    return {
      type: "ran",
      outcome: exit.code === undefined ? outcome : exit.code === 0 ? "finished" : "failed",
      ...(value === undefined ? {} : { value: value.slice(0, characters) }),
      exitCode: exit.code ?? (outcome === "finished" ? 0 : 1),
      ...files.changes(),
      // Its remaining jobs would run in the next program's time.
      lost: (ready.flag[0] !== 0 || exit.code !== undefined) && ready.runtime.hasPendingJob(),
    };
  } catch (error) {
    output.text("stderr", `${error instanceof Error ? error.message : String(error)}\n`);
    return { type: "ran", outcome: "ended", put: {}, removed: [], lost: true };
  } finally {
    output.end();
  }
}

type Told = Pick<GuestRan, "outcome"> & { value?: string };

/**
 * Runs code as a script, or as a module if it is not one. Only modules may use `await` and `import` at the
 * top.
 */
function execute(ready: Ready, code: string): Told {
  const { context, runtime } = ready;
  const asModule = /^\s*(import|export)\b|\bawait\b/m.test(code) && !isScript(context, code);
  const result = context.evalCode(code, "program.js", { type: asModule ? "module" : "global" });
  if (result.error) return failed(ready, result.error);
  try {
    for (;;) {
      const jobs = runtime.executePendingJobs(mostJobs);
      if (jobs.error) return failed(ready, jobs.error);
      // An interrupt in a job only rejects the job's promise, so the program would seem to have finished.
      if (ready.flag[0] !== 0) return { outcome: "failed" };
      if (ready.exit.code !== undefined) break;
      if (runtime.hasPendingJob()) continue;
      const due = numberOf(ready, "due");
      if (due < 0) break;
      Atomics.wait(ready.stop, 0, 0, Math.min(due, slice));
      if (due > slice) continue;
      const fired = callOf(ready, "fire");
      if (fired.error) return failed(ready, fired.error);
      fired.value.dispose();
    }
    if (!asModule) return finished(ready, result.value);
    const state = context.getPromiseState(result.value);
    return state.type === "rejected" ? failed(ready, state.error) : { outcome: "finished" };
  } finally {
    result.value.dispose();
  }
}

/** Whether code parses as a script, in which `await` is an ordinary name outside async functions. */
function isScript(context: QuickJSContext, code: string): boolean {
  const result = context.evalCode(code, "program.js", { compileOnly: true });
  if (result.error) result.error.dispose();
  else result.value.dispose();
  return result.error === undefined;
}

function finished(ready: Ready, value: QuickJSHandle): Told {
  if (ready.context.typeof(value) === "undefined") return { outcome: "finished" };
  const shown = callOf(ready, "inspect", value);
  if (shown.error) return failed(ready, shown.error);
  return { outcome: "finished", value: shown.value.consume((handle) => ready.context.getString(handle)) };
}

function failed(ready: Ready, error: QuickJSHandle): Told {
  const { context } = ready;
  if (ready.exit.code !== undefined) {
    error.dispose();
    return { outcome: "failed" };
  }
  const told: unknown = context.dump(error);
  error.dispose();
  const { name, message, stack: trace, code } = fieldsOf(told);
  const head = name === "" ? message : `${name}: ${message}`;
  output.text("stderr", `${head}\n${trace ?? ""}`.trimEnd().concat("\n"));
  if (name === "InternalError" && message === "out of memory") return { outcome: "memory-limit" };
  return { outcome: code === "ENOSPC" ? "disk-limit" : "failed" };
}

interface ErrorFields {
  name: string;
  message: string;
  stack?: string | undefined;
  code?: string | undefined;
}

function fieldsOf(told: unknown): ErrorFields {
  if (typeof told !== "object" || told === null) return { name: "", message: `Uncaught ${String(told)}` };
  const read = (key: string): string | undefined => {
    const value: unknown = Reflect.get(told, key);
    return typeof value === "string" ? value : undefined;
  };
  return {
    name: read("name") ?? "Error",
    message: read("message") ?? JSON.stringify(told),
    stack: read("stack"),
    code: read("code"),
  };
}

function callOf({ context, prelude }: Ready, name: string, ...values: QuickJSHandle[]) {
  return context
    .getProp(prelude, name)
    .consume((method) => context.callFunction(method, context.undefined, ...values));
}

function call(ready: Ready, name: string): QuickJSHandle | undefined {
  const result = callOf(ready, name);
  if (!result.error) return result.value;
  result.error.dispose();
  return undefined;
}

function numberOf(ready: Ready, name: string): number {
  return call(ready, name)?.consume((handle) => ready.context.getNumber(handle)) ?? -1;
}
