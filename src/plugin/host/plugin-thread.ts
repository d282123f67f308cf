import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { FunctionName, PluginFunctions, StateNumber } from "./protocol.ts";
import {
  type AskOptions,
  type RunningThread,
  type StartThread,
  startThread,
  type ThreadOptions,
} from "./running-thread.ts";

/** The state of a tool's instance. It stays in the thread that made it. */
export interface InstanceState {
  /** The number of the plugin's thread, from 1. */
  thread: number;
  state: StateNumber;
}

/**
 * Runs a plugin in a separate thread. Whatever the plugin does there (an endless loop, `process.exit()`, an
 * uncaught error), this thread keeps running. If the thread has ended, the next call restarts it, but its
 * states are lost.
 */
export interface PluginThread {
  /** The functions that the plugin has. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID. */
  functions(): Promise<ReadonlySet<string>>;
  /** Throws the `errors` of the options, PLUGIN_THREAD_ENDED, or the signal's reason. */
  ask<Name extends FunctionName>(
    name: Name,
    request: PluginFunctions[Name]["request"],
    options?: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]>;
  /** Makes an instance. Calls `hold` with the handle of what it holds. */
  make<Name extends "create" | "restore">(
    name: Name,
    request: PluginFunctions[Name]["request"],
    options: AskOptions,
  ): Promise<InstanceState>;
  /** Calls a function on an instance. Throws PLUGIN_THREAD_ENDED if its thread has ended. */
  askOf<Name extends "execute" | "snapshot" | "release">(
    name: Name,
    instance: InstanceState,
    request: (state: StateNumber) => PluginFunctions[Name]["request"],
    options?: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]>;
  /** Releases an instance's state. */
  forget(instance: InstanceState): void;
  /** Whether the thread that holds the state has ended. */
  isLost(instance: InstanceState): boolean;
  close(): Promise<void>;
}

/** Returns the thread of a plugin. It starts on demand, by `startOne` (default: in this process). */
export function pluginThread(options: ThreadOptions, startOne: StartThread = startThread): PluginThread {
  const plugin = options.plugin.name;
  let started = 0;
  let current: { number: number; running: Promise<RunningThread> } | undefined;

  function start(): { number: number; running: Promise<RunningThread> } {
    if (current !== undefined) return current;
    const number = ++started;
    const over = () => {
      if (current?.number === number) current = undefined;
    };
    current = { number, running: startOne(options, over) };
    current.running.catch(over); // its callers receive the error
    return current;
  }

  async function holderOf({ thread }: InstanceState): Promise<RunningThread> {
    if (current?.number === thread) return current.running;
    throw new EverturnError("PLUGIN_THREAD_ENDED", { plugin, reason: "the instance went with it" });
  }

  return {
    functions: async () => (await start().running).functions,
    ask: async (name, request, given = {}) => (await start().running).ask(name, request, given),
    make: async (name, request, given) => {
      const { number, running } = start();
      return { thread: number, state: await (await running).ask(name, request, given) };
    },
    askOf: async (name, instance, request, given = {}) =>
      (await holderOf(instance)).ask(name, request(instance.state), given),
    forget: (instance) => {
      void holderOf(instance).then(
        (thread) => thread.forget(instance.state),
        () => {}, // its thread has ended, and the state with it
      );
    },
    isLost: ({ thread }) => current?.number !== thread,
    close: async () => {
      const closing = current;
      current = undefined;
      await closing?.running.then(
        (thread) => thread.end(),
        () => {}, // it never started
      );
    },
  };
}
