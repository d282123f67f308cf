import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import type { JsonValue } from "../../contracts/json.ts";
import type { FromHost, HostedFailure, ToHost } from "./host-protocol.ts";
import type { FunctionName, PluginFunctions } from "./protocol.ts";
import type { AskOptions, RunningThread, ThreadOptions } from "./running-thread.ts";
import { errorOf, thrownData } from "./thrown-data.ts";

/** A plugin's thread in a plugin host, as the worker sees it. */
export interface HostedThread {
  running: Promise<RunningThread>;
  /** Whether a caller waits for it. */
  isAsked(): boolean;
  /** Whether it has ended and will send no more messages. */
  isOver(): boolean;
  hear(message: Exclude<FromHost, { type: "pong" }>): void;
  /**
   * Reports that its host has ended. `blamed` decides which requests fail: all, including its start, or only
   * its calls. With "none", they are repeated.
   */
  lose(reason: string, blamed: "all" | "calls" | "none"): void;
}

/** A call that the host has not answered. */
interface Pending {
  answered(answer: never): void;
  failed(error: Error): void;
}

/**
 * Returns the thread `thread` of the host that receives the posted messages. Calls `onEnd` when the thread
 * has ended.
 */
export function hostedThread(
  thread: number,
  { plugin, errors, log }: ThreadOptions,
  post: (message: ToHost) => void,
  onEnd: () => void,
): HostedThread {
  const { promise: running, ...start } = Promise.withResolvers<RunningThread>();
  const closed = Promise.withResolvers<void>();
  const calls = new Map<number, Pending>();
  /**
   * Calls that the plugin has not finished, including abandoned ones. A handle that arrives late is recorded
   * too.
   */
  const open = new Map<number, Pick<AskOptions, "hold" | "onOver">>();
  let newest = 0;
  let isStarting = true;
  let hasEnded = false;
  let [isClosing, isClosed] = [false, false];

  function ask<Name extends FunctionName>(
    name: Name,
    request: PluginFunctions[Name]["request"],
    { signal, hold, onOver }: AskOptions,
  ): Promise<PluginFunctions[Name]["answer"]> {
    signal?.throwIfAborted();
    if (hasEnded) throw over("it has ended");
    const call = ++newest;
    const { promise, resolve, reject } = Promise.withResolvers<PluginFunctions[Name]["answer"]>();
    let isAwaited = true;
    const settle = () => {
      isAwaited = false;
      signal?.removeEventListener("abort", abort);
    };
    function abort(): void {
      settle();
      post({ type: "abort", thread, call, reason: thrownData(signal?.reason) });
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", abort);
    calls.set(call, {
      answered: (answer) => {
        if (!isAwaited && hold !== undefined) forget(answer); // the abort and the answer crossed
        settle();
        resolve(answer);
      },
      failed: (error) => {
        settle();
        reject(error);
      },
    });
    const tellsOver = hold !== undefined || onOver !== undefined;
    if (tellsOver) open.set(call, defined({ hold, onOver }));
    post({ type: "ask", thread, call, name, request, tellsOver });
    return promise;
  }

  function forget(state: number): void {
    post({ type: "forget", thread, state });
  }

  async function noteHeld(call: number, handle: JsonValue): Promise<void> {
    try {
      await open.get(call)?.hold?.(handle);
      post({ type: "held", thread, call });
    } catch (error) {
      post({ type: "held", thread, call, failure: messageOf(error) });
    }
  }

  function failureOf(failure: HostedFailure): Error {
    switch (failure.type) {
      case "timed out":
        return errors.timedOut();
      case "failed":
        return errors.failed(failure.reason, failure.cause && errorOf(failure.cause));
      case "thrown":
        return errorOf(failure.thrown);
    }
  }

  function over(reason: string): EverturnError {
    return new EverturnError("PLUGIN_THREAD_ENDED", { plugin: plugin.name, reason });
  }

  function end(): void {
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
  }

  const self: RunningThread = {
    functions: new Set(),
    ask: async (name, request, options) => ask(name, request, options),
    forget,
    end: async () => {
      isClosing = true;
      post({ type: "end", thread });
      await closed.promise;
    },
  };
  return {
    running,
    isAsked: () => isStarting || calls.size > 0,
    isOver: () => hasEnded && calls.size === 0 && (!isClosing || isClosed),
    hear: (message) => {
      switch (message.type) {
        case "started":
          isStarting = false;
          return start.resolve({ ...self, functions: new Set(message.functions) });
        case "unusable":
          isStarting = false;
          start.reject(errorOf(message.thrown));
          return end();
        case "answered":
          calls.get(message.call)?.answered(message.answer as never);
          return void calls.delete(message.call);
        case "failed":
          calls.get(message.call)?.failed(failureOf(message.failure));
          return void calls.delete(message.call);
        case "over":
          open.get(message.call)?.onOver?.();
          return void open.delete(message.call);
        case "hold":
          return void noteHeld(message.call, message.handle);
        case "log":
          return log(message.text);
        case "ended":
          return end();
        case "closed":
          isClosed = true;
          end();
          return closed.resolve();
      }
    },
    lose: (reason, blamed) => {
      end();
      const [asked, wasStarting] = [[...calls.values()], isStarting];
      calls.clear();
      for (const { onOver } of open.values()) onOver?.();
      open.clear();
      isStarting = false;
      const { name, entry } = plugin;
      const unusable = () => new EverturnError("PLUGIN_ENTRY_FAILED", { name, file: entry, reason });
      if (wasStarting) start.reject(blamed === "all" ? unusable() : over(reason));
      for (const call of asked)
        call.failed(blamed === "none" ? over(reason) : errors.failed(reason, undefined));
      closed.resolve();
    },
  };
}
