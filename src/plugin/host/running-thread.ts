import { randomUUID } from "node:crypto";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { killMarked } from "../../base/processes/marked-processes.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { begunCalls, noteAsked, sinceBegun, sinceNewest } from "./begun-calls.ts";
import { boundedCall } from "./bounded-call.ts";
import {
  type FromThread,
  type FunctionName,
  holdState,
  type PluginFunctions,
  type StateNumber,
  type ThreadKind,
  type ThreadStart,
  type ToThread,
} from "./protocol.ts";
import { errorOf, type ThrownData, thrownData } from "./thrown-data.ts";

/** The errors for failed calls of a plugin. */
export interface ThreadErrors {
  /** The plugin did not answer within `limit`. */
  timedOut(): Error;
  /** The plugin threw, or ended its thread. */
  failed(reason: string, cause: unknown): Error;
}

export interface ThreadOptions {
  kind: ThreadKind;
  plugin: ResolvedPlugin;
  /** Maximum milliseconds of a call after it has begun. */
  limit: number;
  errors: ThreadErrors;
  log: (text: string) => void;
  /** The mark that its child processes carry, if another process needs to find them. */
  mark?: string;
}

/** Options for a call. */
export interface AskOptions {
  signal?: AbortSignal;
  /** For a call that makes an instance. The plugin continues when it resolves. */
  hold?: (handle: JsonValue) => Promise<void> | void;
  /**
   * Called when the plugin has finished the call or its thread has ended, even if no caller waits any more.
   */
  onOver?: () => void;
}

/** A plugin's thread that has loaded the plugin. */
export interface RunningThread {
  functions: ReadonlySet<string>;
  /**
   * Calls a function of the plugin. The limit and `signal` apply even if the plugin ignores them. A thread
   * that does not respond after that is ended. Throws the `errors` of the options, PLUGIN_THREAD_ENDED, or
   * the signal's reason.
   */
  ask<Name extends FunctionName>(
    name: Name,
    request: PluginFunctions[Name]["request"],
    options: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]>;
  /** Releases the state that this call made. */
  forget(state: StateNumber): void;
  /** Ends the thread, and the processes that it started and that still run. */
  end(): Promise<void>;
}

/** A call that the thread has not answered. */
interface Pending {
  answered(answer: never): void;
  failed(error: Error): void;
}

/** Milliseconds in which a thread must answer a ping. A thread that imports its plugin has the same time. */
const grace = 2000;
const loadLimit = 60_000;

/**
 * Starts a thread for a plugin, in this process or in another one, and waits until it has loaded the plugin.
 * Calls `onEnd` when the thread has ended.
 */
export type StartThread = (options: ThreadOptions, onEnd: () => void) => Promise<RunningThread>;

/** The environment variable that marks the processes started by a plugin's thread. */
export const threadVariable = "EVERTURN_THREAD";

/**
 * Starts a thread for a plugin and waits until it has loaded it. Calls `onEnd` when the thread has ended.
 * Throws PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID.
 */
export async function startThread(options: ThreadOptions, onEnd: () => void): Promise<RunningThread> {
  const { kind, plugin, limit, errors, log } = options;
  const begun = begunCalls();
  const mark = options.mark ?? randomUUID();
  const worker = new Worker(ownModule("src/plugin/host/thread-main"), {
    workerData: { kind, plugin, begun } satisfies ThreadStart,
    name: plugin.name,
    execArgv: [], // modules that worker processes preload are for the workflows' threads
    env: { ...process.env, [threadVariable]: mark },
  });
  const calls = new Map<number, Pending>();
  const holds = new Map<number, NonNullable<AskOptions["hold"]>>();
  let newest = 0;
  let [pings, pongs] = [0, 0];
  let isWatched = false;
  let hasEnded = false;
  let uncaught: unknown;
  let ending: Omit<Extract<FromThread, { type: "ending" }>, "type"> | undefined;

  function post(message: ToThread | { type: "call"; call: number; name: FunctionName; request: unknown }) {
    worker.postMessage(message);
  }

  function ask<Name extends FunctionName>(
    name: Name,
    request: PluginFunctions[Name]["request"],
    { signal, hold, onOver = () => {} }: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]> {
    const number = ++newest;
    const call = boundedCall<PluginFunctions[Name]["answer"]>({
      limit,
      signal,
      time: () => sinceBegun(begun, number),
      timedOut: errors.timedOut,
      onStanding: watch,
      onGivenUp: (reason) => {
        post({ type: "abort", call: number, reason: thrownData(reason) });
        watch();
      },
    });
    calls.set(number, {
      answered: (answer) => {
        if (!call.isAwaited() && hold !== undefined) forget(number);
        call.resolve(answer);
        onOver();
      },
      failed: (error) => {
        call.reject(error);
        onOver();
      },
    });
    if (hold !== undefined) holds.set(number, hold);
    noteAsked(begun, number);
    post({ type: "call", call: number, name, request });
    return call.answer;
  }

  /** Releases a state whose caller had already left when it was made. */
  function forget(state: StateNumber): void {
    holds.delete(state);
    post({ type: "drop", state });
  }

  async function noteHeld(call: number, handle: JsonValue, written: Int32Array): Promise<void> {
    let state: number = holdState.written;
    try {
      await holds.get(call)?.(handle);
    } catch (error) {
      log(`${plugin.name}: its state was not saved: ${messageOf(error)}`);
      state = holdState.failed;
    }
    Atomics.store(written, 0, state);
    Atomics.notify(written, 0);
  }

  /**
   * Ends the thread if it does not respond. Its newest call has its whole limit, followed by a grace period.
   */
  function watch(): void {
    if (hasEnded) return;
    post({ type: "ping", ping: ++pings });
    if (isWatched) return;
    isWatched = true;
    void untilItAnswers().finally(() => {
      isWatched = false;
    });
  }

  async function untilItAnswers(): Promise<void> {
    let [asked, wait] = [pings, grace];
    while (wait > 0) {
      await sleep(wait, undefined, { ref: false });
      await immediate(); // the answer may already be here
      if (hasEnded || pongs === pings) return;
      wait = pongs < asked ? limit + grace - (sinceNewest(begun) ?? limit + grace) : grace;
      asked = pings;
    }
    end(`it blocked its thread for longer than ${limit / 1000} s`);
    void stop();
  }

  /** All states in the thread are lost. The call that ended it fails, and other calls are repeated. */
  function end(reason: string): void {
    log(`${plugin.name}: its thread was stopped: ${reason}. The next call restarts it.`);
    lose(reason);
  }

  function lose(reason: string): void {
    hasEnded = true;
    onEnd();
    const cause = causeOfEnd();
    for (const [number, call] of calls) {
      const other = () => new EverturnError("PLUGIN_THREAD_ENDED", { plugin: plugin.name, reason });
      if (ending?.thrown?.entry !== undefined && cause !== undefined)
        call.failed(cause); // the plugin has a mistake
      else call.failed(number === ending?.call ? errors.failed(reason, cause) : other());
    }
    calls.clear();
  }

  function failureOf(thrown: ThrownData): Error {
    const error = errorOf(thrown);
    return thrown.entry === undefined ? errors.failed(thrown.message, error) : error;
  }

  function causeOfEnd(): Error | undefined {
    return ending?.thrown === undefined ? undefined : errorOf(ending.thrown);
  }

  /**
   * Terminating lasts until the thread's native work is done, so processes that this work may wait for are
   * killed.
   */
  async function stop(): Promise<void> {
    const stopping = worker.terminate();
    killMarked(threadVariable, mark);
    await Promise.race([stopping, sleep(grace, undefined, { ref: false })]);
  }

  const loaded = new Promise<ReadonlySet<string>>((resolve, reject) => {
    const unusable = (reason: string) => {
      const { name, entry } = plugin;
      reject(
        new EverturnError("PLUGIN_ENTRY_FAILED", { name, file: entry, reason }, { cause: causeOfEnd() }),
      );
    };
    const timer = setTimeout(() => {
      unusable(`importing it took longer than ${loadLimit / 1000} s`);
      hasEnded = true;
      void stop();
    }, loadLimit);
    worker.on("message", (message: FromThread) => {
      switch (message.type) {
        case "loaded":
          clearTimeout(timer);
          return resolve(new Set(message.functions));
        case "unusable":
          clearTimeout(timer);
          reject(errorOf(message.thrown));
          hasEnded = true;
          return void stop();
        case "answered":
          calls.get(message.call)?.answered(message.answer);
          return void calls.delete(message.call);
        case "failed":
          calls.get(message.call)?.failed(failureOf(message.thrown));
          holds.delete(message.call);
          return void calls.delete(message.call);
        case "hold":
          return void noteHeld(message.call, message.handle, message.written);
        case "pong":
          pongs = message.ping;
          return;
        case "ending":
          ending ??= message;
      }
    });
    worker.on("error", (error) => {
      uncaught = error;
    });
    worker.on("exit", (code) => {
      clearTimeout(timer);
      if (hasEnded) return;
      const reason = ending?.reason ?? (uncaught === undefined ? `exit code ${code}` : messageOf(uncaught));
      unusable(reason);
      end(reason);
      killMarked(threadVariable, mark);
    });
  });
  return {
    functions: await loaded,
    ask,
    forget,
    end: async () => {
      if (!hasEnded) lose("its worker ends");
      await stop();
    },
  };
}
