// A thread that helps with adamw.ts: it works on arrays of the thread that has started it, where they are.
import { parentPort } from "node:worker_threads";
import { foreignCalls } from "../onnx/foreign-calls.ts";
import { type AdamWJob, type AdamWProgress, workOn } from "./adamw-job.ts";
import { createAdamWKernel } from "./adamw-kernel.ts";

const { koffi } = await foreignCalls();
const kernel = createAdamWKernel();
/** Arrays of the last job, by address: most are where they were at the next one. */
let last = new Map<bigint, Float32Array>();

parentPort?.on("message", ([job, progress]: [AdamWJob<bigint>, AdamWProgress]) => {
  const opened = new Map<bigint, Float32Array>();
  workOn(kernel, job, progress, (address, count) => {
    const found = opened.get(address) ?? last.get(address);
    const array = found?.length === count ? found : new Float32Array(koffi.view(address, 4 * count));
    opened.set(address, array);
    return array;
  });
  if (job.update) last = opened;
});
parentPort?.postMessage("ready");
