import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { FunctionName, PluginFunctions, StateNumber } from "./protocol.ts";
import {
  type AskOptions,
  type RunningThread,
  type StartThread,
  startThread,
  type ThreadOptions,
} from "./running-thread.ts";

/** The state of a tool's instance, which stays in the thread that made it. */
export interface InstanceState {
  /** Threads of the plugin are counted from 1. */
  thread: number;
  state: StateNumber;
}

/**
 * Runs a plugin in a thread of its own: whatever it does there, an endless loop, `process.exit()`, an error that
 * nobody catches, this thread goes on. One that has ended is started again by the next call; the states in it are lost.
 */
export interface PluginThread {
  /** The functions that the plugin has. Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID. */
  functions(): Promise<ReadonlySet<string>>;
  /** Throws what `errors` of the options say, PLUGIN_THREAD_ENDED, the signal's reason. */
  ask<Name extends FunctionName>(
    name: Name,
    request: PluginFunctions[Name]["request"],
    options?: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]>;
  /** Makes an instance; `hold` is told what it holds. */
  make<Name extends "create" | "restore">(
    name: Name,
    request: PluginFunctions[Name]["request"],
    options: AskOptions,
  ): Promise<InstanceState>;
  /** Does something with an instance. Throws PLUGIN_THREAD_ENDED if its thread has. */
  askOf<Name extends "execute" | "snapshot" | "release">(
    name: Name,
    instance: InstanceState,
    request: (state: StateNumber) => PluginFunctions[Name]["request"],
    options?: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]>;
  /** Lets go of an instance's state. */
  forget(instance: InstanceState): void;
  /** Whether the thread that holds the state has ended. */
  isLost(instance: InstanceState): boolean;
  close(): Promise<void>;
}

/** The thread of a plugin, which is started by `startOne`, in this process if not said, when it is first needed. */
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
    current.running.catch(over); // told to those who wait for it
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
        () => {}, // it went with its thread
      );
    },
    isLost: ({ thread }) => current?.number !== thread,
    close: async () => {
      const closing = current;
      current = undefined;
      await closing?.running.then(
        (thread) => thread.end(),
        () => {}, // it never ran
      );
    },
  };
}
