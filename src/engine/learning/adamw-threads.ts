import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ownModule } from "../../base/processes/own-module.ts";
import { defined } from "../../base/records/defined.ts";
import { type ForeignFunctions, foreignCalls } from "../onnx/foreign-calls.ts";
import {
  type AdamWJob,
  type AdamWProgress,
  finished,
  noProgress,
  openRow,
  type Place,
  type Places,
  piecesOf,
  workOn,
} from "./adamw-job.ts";
import { chunkBytes, createAdamWKernel } from "./adamw-kernel.ts";
import type { Arrays } from "./adamw-rows.ts";
import { copyByMove } from "./copy-numbers.ts";

/** Threads that work on the same arrays. The result does not depend on their number. */
export interface AdamWThreads {
  /** Runs a job on this thread and the others. Returns the sum of each piece when squares are summed. */
  run(job: AdamWJob): Promise<Float64Array>;
  /** From now on, works in place on arrays in these memories. */
  attach(memories: readonly WebAssembly.Memory[]): void;
  close(): Promise<void>;
}

/** Milliseconds after which other work in this thread gets a turn. */
const longestTurn = 200;

/** A message to another thread: the addresses of memories and of its own chunk in each, or a job. */
export type AdamWMessage =
  | { memories: readonly ({ memory: WebAssembly.Memory } & Place)[]; scratch: number }
  | { job: AdamWJob<Places>; progress: AdamWProgress };

/**
 * Starts threads, counting this one. If other threads can't access its memory through koffi, this thread works alone.
 */
export async function openAdamWThreads(threads: number): Promise<AdamWThreads> {
  const calls = await foreignCalls().catch(() => undefined);
  const kernel = createAdamWKernel(calls && copyByMove(calls.koffi));
  const helpers = calls ? await Promise.all(Array.from({ length: threads - 1 }, startHelper)) : [];
  return {
    async run(job) {
      const progress = noProgress(piecesOf(job.counts).length);
      if (calls && helpers.length > 0) {
        const message: AdamWMessage = { job: byPlaces(calls, job), progress };
        for (const helper of helpers) helper.postMessage(message);
      }
      const own = { floats: (array: Float32Array) => array, bytes: (array: Uint8Array) => array };
      // The first write to memory takes seconds per gigabyte on some machines, so heartbeats and other work get turns.
      while (!workOn(kernel, job, progress, own, longestTurn)) await setImmediate();
      finished(progress);
      return progress.sums;
    },
    attach(memories) {
      for (const memory of memories) kernel.attach(memory, 0);
      if (!calls || helpers.length === 0) return;
      const { koffi } = calls;
      const message = {
        memories: memories.map((memory) => ({ memory, ...placeOf(koffi, new Uint8Array(memory.buffer)) })),
      };
      for (const [index, helper] of helpers.entries())
        helper.postMessage({ ...message, scratch: (index + 1) * chunkBytes });
    },
    async close() {
      await Promise.all(helpers.map((helper) => helper.terminate()));
    },
  };
}

async function startHelper(): Promise<Worker> {
  const helper = new Worker(ownModule("src/engine/learning/adamw-thread"), { name: "adamw", execArgv: [] });
  helper.unref();
  await once(helper, "message");
  return helper;
}

function byPlaces(
  { koffi }: ForeignFunctions,
  { gradients, counts, update, sums }: AdamWJob,
): AdamWJob<Places> {
  const place = (array: ArrayBufferView) => placeOf(koffi, array);
  const open = { floats: place, bytes: place };
  const rows = update?.rows.map((row) => openRow<Arrays, Places>(row, open));
  return defined({
    counts,
    gradients: gradients.map(place),
    update: update && rows && { ...update, rows },
    sums: sums?.map(place),
  });
}

function placeOf(koffi: ForeignFunctions["koffi"], array: ArrayBufferView): Place {
  return { address: koffi.address(array), byteLength: array.byteLength };
}
