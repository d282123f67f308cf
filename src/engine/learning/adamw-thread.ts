// A helper thread of adamw.ts. It works in place on arrays of the thread that started it.
import { parentPort } from "node:worker_threads";
import { foreignCalls } from "../onnx/foreign-calls.ts";
import { type Place, workOn } from "./adamw-job.ts";
import { createAdamWKernel } from "./adamw-kernel.ts";
import type { AdamWMessage } from "./adamw-threads.ts";
import { copyByMove } from "./copy-numbers.ts";

interface Bytes {
  buffer: ArrayBufferLike;
  byteOffset: number;
}

const { koffi } = await foreignCalls();
const kernel = createAdamWKernel(copyByMove(koffi));
const attached: ({ memory: WebAssembly.Memory } & Place)[] = [];
/** Memory of the last job by address. Most addresses are the same in the next job. */
let last = new Map<bigint, ArrayBuffer>();

parentPort?.on("message", (message: AdamWMessage) => {
  if ("memories" in message) {
    attached.push(...message.memories);
    for (const { memory } of message.memories) kernel.attach(memory, message.scratch);
    return;
  }
  const { job, progress } = message;
  const opened = new Map<bigint, ArrayBuffer>();
  const bytesAt = ({ address, byteLength }: Place): Bytes => {
    const there = attached.find(
      (one) => one.address <= address && address < one.address + BigInt(one.byteLength),
    );
    if (there) return { buffer: there.memory.buffer, byteOffset: Number(address - there.address) };
    const found = opened.get(address) ?? last.get(address);
    const buffer = found?.byteLength === byteLength ? found : koffi.view(address, byteLength);
    opened.set(address, buffer);
    return { buffer, byteOffset: 0 };
  };
  workOn(kernel, job, progress, {
    floats(place) {
      const { buffer, byteOffset } = bytesAt(place);
      return new Float32Array(buffer, byteOffset, place.byteLength / 4);
    },
    bytes(place) {
      const { buffer, byteOffset } = bytesAt(place);
      return new Uint8Array(buffer, byteOffset, place.byteLength);
    },
  });
  if (job.update) last = opened;
});
parentPort?.postMessage("ready");
