import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { placeOfMistake } from "../../base/errors/programming-error.ts";
import type { JsonValue } from "../../contracts/json.ts";
import { loadGroupReward, loadReward, loadTool } from "../registry/registry.ts";
import { noteBegun } from "./begun-calls.ts";
import { type FromThread, holdState, type StateNumber, type ThreadStart, type ToThread } from "./protocol.ts";
import { type ServedFunctions, servedGroupReward, servedReward, servedTool } from "./served-functions.ts";
import { errorOf, thrownData } from "./thrown-data.ts";

// The thread of a plugin. It loads the plugin and handles requests that arrive as messages.

/** Milliseconds that `hold` waits for the record. The process's other work comes first. */
const holdPatience = 10_000;

if (parentPort === null) throw new Error("thread-main.ts is run in a thread");
const port = parentPort;
const { kind, plugin, begun }: ThreadStart = workerData;
const states = new Map<StateNumber, unknown>();
const underWay = new Map<number, AbortController>();
/** The call that the current code runs for, even after that call was answered. */
const currentCall = new AsyncLocalStorage<number>();

function post(message: FromThread<unknown>): void {
  port.postMessage(message);
}

async function load(): Promise<ServedFunctions> {
  if (kind === "tool") return servedTool(plugin.name, await loadTool(plugin), states);
  return plugin.manifest.reward?.group === true
    ? servedGroupReward(plugin.name, await loadGroupReward(plugin))
    : servedReward(plugin.name, await loadReward(plugin));
}

/**
 * Returns when the other side has recorded the handle. If the worker is killed after that, the record shows
 * what it holds.
 */
function hold(call: number, handle: JsonValue): void {
  const written = new Int32Array(new SharedArrayBuffer(4));
  post({ type: "hold", call, handle, written });
  Atomics.wait(written, 0, holdState.unwritten, holdPatience);
  if (Atomics.load(written, 0) === holdState.failed) {
    throw new Error("the state of the instance could not be saved: the worker's log explains why");
  }
}

/** Adds the place to a mistake in the plugin's own code. Other errors are failures of its infrastructure. */
function named(thrown: unknown): unknown {
  const place = placeOfMistake(thrown, plugin.folder);
  if (place === undefined) return thrown;
  const reason = String(thrown).replace(/\.$/, "");
  return new EverturnError("PLUGIN_BROKEN", { plugin: plugin.name, reason, place }, { cause: thrown });
}

async function answer(functions: ServedFunctions, message: Extract<ToThread, { type: "call" }>) {
  const { call, name, request } = message;
  noteBegun(begun, call);
  const controller = new AbortController();
  underWay.set(call, controller);
  try {
    const { signal } = controller;
    const served = functions[name];
    if (served === undefined) throw new Error(`the plugin has no ${name}()`);
    const given = await served(request, { number: call, signal, hold: (handle) => hold(call, handle) });
    post({ type: "answered", call, answer: given });
  } catch (thrown) {
    post({ type: "failed", call, thrown: thrownData(named(thrown)) });
  } finally {
    underWay.delete(call);
  }
}

process.once("uncaughtExceptionMonitor", (thrown) => {
  const reason = `uncaught ${String(thrown)}`;
  post({ type: "ending", call: currentCall.getStore(), reason, thrown: thrownData(named(thrown)) });
});
process.once("exit", (code) => {
  post({ type: "ending", call: currentCall.getStore(), reason: `it called process.exit(${code})` });
});

try {
  const functions = await load();
  port.on("message", (message: ToThread) => {
    switch (message.type) {
      case "call":
        return void currentCall.run(message.call, answer, functions, message);
      case "abort":
        return underWay.get(message.call)?.abort(errorOf(message.reason));
      case "drop":
        return void states.delete(message.state);
      case "ping":
        return post({ type: "pong", ping: message.ping });
    }
  });
  post({ type: "loaded", functions: Object.keys(functions) });
} catch (thrown) {
  post({ type: "unusable", thrown: thrownData(thrown) });
}
