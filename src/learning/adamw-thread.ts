// A thread that helps with adamw.ts: it works on arrays of the thread that has started it, where they are.
import { parentPort } from "node:worker_threads";
import { foreignCalls } from "../onnx/foreign-calls.ts";
import { type AdamWJob, type AdamWProgress, type Place, type Places, workOn } from "./adamw-job.ts";
import { createAdamWKernel } from "./adamw-kernel.ts";

const { koffi } = await foreignCalls();
const kernel = createAdamWKernel();
/** Memory of the last job, by address: most is where it was at the next one. */
let last = new Map<bigint, ArrayBuffer>();

parentPort?.on("message", ([job, progress]: [AdamWJob<Places>, AdamWProgress]) => {
  const opened = new Map<bigint, ArrayBuffer>();
  const memoryAt = ({ address, byteLength }: Place): ArrayBuffer => {
    const found = opened.get(address) ?? last.get(address);
    const memory = found?.byteLength === byteLength ? found : koffi.view(address, byteLength);
    opened.set(address, memory);
    return memory;
  };
  workOn(kernel, job, progress, {
    floats: (place) => new Float32Array(memoryAt(place)),
    bytes: (place) => new Uint8Array(memoryAt(place)),
  });
  if (job.update) last = opened;
});
parentPort?.postMessage("ready");
