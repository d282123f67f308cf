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

/** Threads that work on the same arrays; the result is the same for any number of them. */
export interface AdamWThreads {
  /** Does a job, this thread with the others, and gives the sum of each piece where squares are added up. */
  run(job: AdamWJob): Promise<Float64Array>;
  /** From now on, arrays in these memories are worked on where they lie. */
  attach(memories: readonly WebAssembly.Memory[]): void;
  close(): Promise<void>;
}

/** Milliseconds after which others in this thread have their turn. */
const longestTurn = 200;

/** What another thread is told: where memories lie and where in each its own chunk is, or what to do. */
export type AdamWMessage =
  | { memories: readonly ({ memory: WebAssembly.Memory } & Place)[]; scratch: number }
  | { job: AdamWJob<Places>; progress: AdamWProgress };

/** So many threads, this one among them. It is alone where others can't get at its memory, by koffi. */
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
      // Memory that nobody wrote to before takes seconds a gigabyte on some machines: heartbeats and the like have their turn.
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
