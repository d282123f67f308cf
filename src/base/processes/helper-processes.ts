import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { ownModule } from "./own-module.ts";

/** Sends a request to a process of its own and returns the answer. */
export type AskHelper<Request, Answer> = (request: Request, limits: HelperLimits) => Promise<Answer>;

/** When a request is given up. */
export interface HelperLimits {
  /** Seconds until the process is killed. */
  time: number;
  signal: AbortSignal;
}

/** What a helper process says: its answer, or why there is none. */
export type HelperReply<Answer> = { answer: Answer } | { refused: string };

/**
 * The environment variables that a helper gets, without secrets. By the EVERTURN_… variables it can be found
 * after its worker has died.
 */
const kept = /^(PATH|HOME|LANG|TMPDIR|TEMP|TMP|SystemRoot|EVERTURN_(THREAD|LEASE))$/;
/** Milliseconds after which an idle process ends. */
const idleTime = 30_000;

/**
 * Returns a function that answers requests in separate processes, one request at a time in each. A request that
 * crashes native code ends only its process. `module` is the path of a module whose default export answers a request.
 * `memory` limits each process, in MiB. The function throws an error that explains why there is no answer, or the
 * signal's reason.
 */
export function helperProcesses<Request extends object, Answer>(
  module: string,
  { memory }: { memory: number },
): AskHelper<Request, Answer> {
  const idle = new Map<ChildProcess, NodeJS.Timeout>();

  const idleChild = (): ChildProcess | undefined => {
    for (const [child, timer] of idle) {
      clearTimeout(timer);
      idle.delete(child);
      if (!isOver(child)) return hold(child, true);
    }
    return undefined;
  };

  const rest = (child: ChildProcess): void => {
    if (isOver(child)) return;
    const timer = setTimeout(() => {
      idle.delete(child);
      child.kill("SIGKILL");
    }, idleTime);
    idle.set(hold(child, false), timer.unref());
  };

  return async (request, { time, signal }) => {
    signal.throwIfAborted();
    const child = idleChild() ?? startChild(module, memory);
    const over = AbortSignal.any([signal, AbortSignal.timeout(time * 1000)]);
    const kill = () => void child.kill("SIGKILL");
    over.addEventListener("abort", kill);
    const own = new AbortController(); // removes the listener that did not fire
    try {
      const reply = once(child, "message", { signal: own.signal }).then(([one]): HelperReply<Answer> => one);
      const end = once(child, "close", { signal: own.signal });
      child.send(request);
      const said = await Promise.race([reply, end.then(([code, how]) => ended(code ?? how))]);
      if ("answer" in said) return said.answer;
      throw new Error(said.refused);
    } catch (error) {
      signal.throwIfAborted();
      if (over.aborted) throw new Error(`it took more than ${time} s`);
      throw error;
    } finally {
      own.abort();
      over.removeEventListener("abort", kill);
      rest(child);
    }
  };
}

function ended(how: unknown): { refused: string } {
  return { refused: `the process that worked on it ended (${how})` };
}

function startChild(module: string, memory: number): ChildProcess {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
  const program = ownModule("src/base/processes/helper-main");
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, module, String(memory)], {
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
}

/** An idle child does not keep this process alive. */
function hold(child: ChildProcess, isBusy: boolean): ChildProcess {
  for (const handle of [child, child.channel]) isBusy ? handle?.ref() : handle?.unref();
  return child;
}

function isOver(child: ChildProcess): boolean {
  return child.killed || !child.connected || child.exitCode !== null || child.signalCode !== null;
}
