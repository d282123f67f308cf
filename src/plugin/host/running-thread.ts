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

/** What is said of a plugin's calls that fail. */
export interface ThreadErrors {
  /** It did not answer within `limit`. */
  timedOut(): Error;
  /** It threw, or ended its thread. */
  failed(reason: string, cause: unknown): Error;
}

export interface ThreadOptions {
  kind: ThreadKind;
  plugin: ResolvedPlugin;
  /** Milliseconds that a call may take, from when it begins. */
  limit: number;
  errors: ThreadErrors;
  log: (text: string) => void;
  /** What processes carry that it starts, if anybody else is to find them. */
  mark?: string;
}

/** How a call is asked for. */
export interface AskOptions {
  signal?: AbortSignal;
  /** Of a call that makes an instance; the plugin goes on when it is done. */
  hold?: (handle: JsonValue) => Promise<void> | void;
  /** Told when the plugin is done with the call, or its thread has ended, though nobody may wait for it any more. */
  onOver?: () => void;
}

/** A plugin's thread that has loaded it. */
export interface RunningThread {
  functions: ReadonlySet<string>;
  /**
   * Has the plugin do something, bounded by the limit and `signal`, whether it heeds that or not. A thread that
   * answers nothing any more after that is ended. Throws what `errors` say, PLUGIN_THREAD_ENDED, the signal's reason.
   */
  ask<Name extends FunctionName>(
    name: Name,
    request: PluginFunctions[Name]["request"],
    options: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]>;
  /** Lets go of the state that this call made. */
  forget(state: StateNumber): void;
  /** Ends it, and processes that it started and that are still there. */
  end(): Promise<void>;
}

/** A call, until the thread has answered it. */
interface Pending {
  answered(answer: never): void;
  failed(error: Error): void;
}

/** Of a thread that is asked whether it lives, and of one that imports its plugin; ms. */
const grace = 2000;
const loadLimit = 60_000;

/** Starts a thread for a plugin, here or elsewhere, and waits until it has loaded it; `onEnd` is told when it has ended. */
export type StartThread = (options: ThreadOptions, onEnd: () => void) => Promise<RunningThread>;

/** The environment variable that processes carry which a plugin's thread started. */
export const threadVariable = "EVERTURN_THREAD";

/**
 * Starts a thread for a plugin and waits until it has loaded it. `onEnd` is told when it has ended. Throws
 * PLUGIN_ENTRY_FAILED, PLUGIN_EXPORT_INVALID.
 */
export async function startThread(options: ThreadOptions, onEnd: () => void): Promise<RunningThread> {
  const { kind, plugin, limit, errors, log } = options;
  const begun = begunCalls();
  const mark = options.mark ?? randomUUID();
  const worker = new Worker(ownModule("src/plugin/host/thread-main"), {
    workerData: { kind, plugin, begun } satisfies ThreadStart,
    name: plugin.name,
    execArgv: [], // what worker processes preload is for the workflows' threads
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

  /** Lets go of a state that nobody asked for any more when it was made. */
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

  /** Ends the thread if it answers nothing: what it began last has its whole time, and then there is a grace. */
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
      await immediate(); // the answer may be here already
      if (hasEnded || pongs === pings) return;
      wait = pongs < asked ? limit + grace - (sinceNewest(begun) ?? limit + grace) : grace;
      asked = pings;
    }
    end(`it blocked its thread for longer than ${limit / 1000} s`);
    void stop();
  }

  /** Everything in it is lost. The call that ended it has failed, others are made again. */
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

  /** Takes until its native work is done: processes that this may wait for are killed. */
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
