import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { killOnExit } from "../../base/processes/kill-on-exit.ts";
import { killMarked } from "../../base/processes/marked-processes.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import type { FromHost, ToHost } from "./host-protocol.ts";
import { type HostedThread, hostedThread } from "./hosted-thread.ts";
import { type RunningThread, type StartThread, threadVariable } from "./running-thread.ts";

/** A process that runs threads of plugins. */
export interface PluginHostProcess {
  pid: number | undefined;
  start: StartThread;
  /** Ends the process, its threads first. */
  close(): Promise<void>;
}

/**
 * Milliseconds between two checks of a host with open calls. The host is killed if it misses two in a row.
 */
const lookInterval = 5000;

/**
 * Starts a plugin host. It ends with this process. Calls `onEnd` when it has ended by itself, with the
 * plugins that had open calls. If only one plugin had open calls, they fail with the `errors` of their
 * threads. If several had, the guilty one is unknown, and their calls are repeated.
 */
export function startPluginHost(onEnd: (reason: string, busy: string[]) => void): PluginHostProcess {
  const child = fork(ownModule("src/plugin/host/host-main"), {
    execArgv: [], // modules that worker processes preload are for the workflows' threads
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  killOnExit(child);
  const threads = new Map<number, { hosted: HostedThread; plugin: string; mark: string }>();
  const ended = Promise.withResolvers<void>();
  let newest = 0;
  let [pings, pongs, missed] = [0, 0, 0];
  let silent = false;
  let hasEnded = false;

  function post(message: ToHost): void {
    if (child.connected) child.send(message, () => {}); // if it has died, its end explains more
  }

  function look(): void {
    if (![...threads.values()].some(({ hosted }) => hosted.isAsked())) {
      missed = 0;
      return;
    }
    if (pongs < pings) missed++;
    else {
      missed = 0;
      post({ type: "ping", ping: ++pings });
    }
    if (missed < 2) return;
    setImmediate(() => {
      if (pongs === pings) return; // this process was the busy one
      silent = true;
      child.kill("SIGKILL");
    });
  }

  const looking = setInterval(look, lookInterval);
  looking.unref();
  child.on("message", (message: FromHost) => {
    if (message.type === "pong") pongs = message.ping;
    else {
      threads.get(message.thread)?.hosted.hear(message);
      if (threads.get(message.thread)?.hosted.isOver() === true) threads.delete(message.thread);
    }
  });
  child.once("error", (error) => lose(error.message));
  // "close" comes after all its messages. "exit" may come before them.
  child.once("close", (code, signal) =>
    lose(silent ? "it did not respond for ten seconds" : (signal ?? `exit code ${code}`)),
  );

  function lose(reason: string): void {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(looking);
    const lost = [...threads.values()];
    threads.clear();
    const busy = new Set(lost.filter(({ hosted }) => hosted.isAsked()).map(({ plugin }) => plugin));
    const said = `the process that it ran in ended: ${reason}`;
    onEnd(reason, [...busy]);
    const byItself = reason !== "SIGKILL" && !silent; // SIGKILL comes from another process, or from the kernel when memory runs out
    const blamed = busy.size > 1 ? "none" : byItself ? "all" : "calls";
    for (const { hosted } of lost) hosted.lose(said, blamed);
    for (const { mark } of lost) killMarked(threadVariable, mark);
    ended.resolve();
  }

  async function start(...[options, onThreadEnd]: Parameters<StartThread>): Promise<RunningThread> {
    const plugin = options.plugin.name;
    if (hasEnded)
      throw new EverturnError("PLUGIN_THREAD_ENDED", {
        plugin,
        reason: "the process that it runs in has ended",
      });
    const thread = ++newest;
    const mark = randomUUID();
    const hosted = hostedThread(thread, options, post, onThreadEnd);
    threads.set(thread, { hosted, plugin, mark });
    const { kind, limit } = options;
    post({ type: "start", thread, kind, plugin: options.plugin, limit, mark });
    return hosted.running;
  }

  return {
    pid: child.pid,
    start,
    close: async () => {
      child.once("exit", () => lose("its worker ends")); // "close" does not come after this side disconnects
      if (child.connected) child.disconnect();
      await ended.promise;
    },
  };
}
