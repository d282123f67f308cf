import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { killMarked } from "../../base/processes/marked-processes.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import { killProcess, processHandle } from "../../base/processes/process-handle.ts";
import { defined } from "../../base/records/defined.ts";
import type { PluginHostObserver } from "../../plugin/host/plugin-hosts.ts";
import { threadVariable } from "../../plugin/host/running-thread.ts";
import type { AgentModule, AgentSettings } from "./agent-settings.ts";
import type { FromKept, ToKept } from "./kept-protocol.ts";

/** A thread or process that has loaded, or is loading, an agent's module. */
export interface KeptPlace {
  post(message: ToKept): void;
  /** Ends it, and the processes that it started. */
  end(): Promise<void>;
}

interface Options {
  settings: AgentSettings;
  module: AgentModule;
  /** The endpoint's base URL. */
  baseURL: string;
  observer: PluginHostObserver;
  hear(message: FromKept): void;
  /** Called once, when it has ended for any reason. `code` is its exit code, if it has one. */
  onEnd(reason: string, code: number | undefined): void;
}

/** Starts a thread for an agent. */
export function startAgentThread({ settings, module, baseURL, hear, onEnd }: Options): KeptPlace {
  const mark = randomUUID();
  const worker = new Worker(ownModule("src/work/agents/kept-main"), {
    argv: argumentsOf(module, baseURL),
    name: "agent",
    execArgv: [], // modules that worker processes preload are for the workflows' threads
    env: { ...settings.environment, [threadVariable]: mark },
  });
  let reason: string | undefined;
  worker.on("message", hear);
  worker.once("error", (error) => {
    reason = String(error);
  });
  worker.once("exit", (code) => onEnd(reason ?? `it ended with code ${code}`, code));
  return {
    post: (message) => worker.postMessage(message),
    end: async () => {
      const ending = worker.terminate();
      killMarked(threadVariable, mark); // the thread may wait for one of these
      await ending;
    },
  };
}

/** Starts a process for an agent. It ends with this process. */
export function startAgentProcess({ settings, module, baseURL, observer, hear, onEnd }: Options): KeptPlace {
  const child = fork(
    ownModule("src/work/agents/kept-main"),
    argumentsOf(module, baseURL),
    defined({
      cwd: settings.folder,
      detached: true,
      env: settings.environment,
      execArgv: [],
      serialization: "advanced" as const,
      stdio: ["ignore", "pipe", "pipe", "ipc"] as ("ignore" | "pipe" | "ipc")[],
    }),
  );
  const { pid } = child;
  const handle = processHandle(pid);
  const over = Promise.withResolvers<void>();
  let hasEnded = false;

  function finish(reason: string, code: number | undefined): void {
    if (hasEnded) return;
    hasEnded = true;
    killProcess(handle); // ends processes that it left behind
    if (pid !== undefined) observer.ended(pid);
    onEnd(reason, code);
    over.resolve();
  }

  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text: Buffer) => hear({ type: "said", session: undefined, text: String(text) }));
  }
  child.on("message", (message: FromKept) => hear(message));
  child.once("error", (error) => {
    if (pid === undefined) finish(`it can't be started: ${error.message}`, undefined);
  });
  child.once("exit", (code, signal) => {
    // its pipes may still have output, but its own children may keep them open
    setTimeout(() => finish(`it ended with ${signal ?? `code ${code}`}`, code ?? undefined), 50);
  });
  if (pid !== undefined) observer.started(pid);
  return {
    post: (message) => {
      if (child.connected) child.send(message, () => {}); // if it has died, its end explains more
    },
    end: async () => {
      killProcess(handle);
      await over.promise;
    },
  };
}

/** The parameters of kept-main. */
function argumentsOf({ file, export: name, settings }: AgentModule, baseURL: string): string[] {
  return [file, name, JSON.stringify(settings), baseURL];
}
