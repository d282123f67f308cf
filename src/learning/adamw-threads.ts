import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type ForeignCalls, foreignCalls } from "../onnx/foreign-calls.ts";
import { ownModule } from "../package/own-module.ts";
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
import { type Arrays, createAdamWKernel } from "./adamw-kernel.ts";

/** Threads that work on the same arrays; the result is the same for any number of them. */
export interface AdamWThreads {
  /** Does a job, this thread with the others; gives the sum of each piece where squares are added up. */
  run(job: AdamWJob): Float64Array;
  close(): Promise<void>;
}

/** So many threads, this one among them. It is alone where others can't get at its memory, by koffi. */
export async function openAdamWThreads(threads: number): Promise<AdamWThreads> {
  const kernel = createAdamWKernel();
  const calls = threads > 1 ? await foreignCalls().catch(() => undefined) : undefined;
  const helpers = calls ? await Promise.all(Array.from({ length: threads - 1 }, startHelper)) : [];
  return {
    run(job) {
      const progress = noProgress(piecesOf(job.counts).length);
      if (calls) {
        const message: [AdamWJob<Places>, AdamWProgress] = [byPlaces(calls, job), progress];
        for (const helper of helpers) helper.postMessage(message);
      }
      workOn(kernel, job, progress, { floats: (array) => array, bytes: (array) => array });
      finished(progress);
      return progress.sums;
    },
    async close() {
      await Promise.all(helpers.map((helper) => helper.terminate()));
    },
  };
}

async function startHelper(): Promise<Worker> {
  const helper = new Worker(ownModule("src/learning/adamw-thread"), { name: "adamw", execArgv: [] });
  helper.unref();
  await once(helper, "message");
  return helper;
}

function byPlaces({ koffi }: ForeignCalls, { gradients, counts, update, sums }: AdamWJob): AdamWJob<Places> {
  const place = (array: ArrayBufferView): Place => {
    return { address: koffi.address(array), byteLength: array.byteLength };
  };
  const open = { floats: place, bytes: place };
  const rows = update?.rows.map((row) => openRow<Arrays, Places>(row, open));
  return {
    ...{ counts, gradients: gradients.map(place) },
    ...(update && rows && { update: { ...update, rows } }),
    ...(sums && { sums: sums.map(place) }),
  };
}
