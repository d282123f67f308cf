// Prints by how many bytes this process's heap grows when it makes large arrays after others were given back.
import { readFileSync } from "node:fs";
import { release } from "../../src/engine/onnx/release.ts";
import { runtimeFunctions } from "../../src/engine/onnx/runtime-functions.ts";

function heapBytes(): number {
  const [, from = "", to = ""] =
    /^([0-9a-f]+)-([0-9a-f]+) .*\[heap\]$/m.exec(readFileSync("/proc/self/maps", "utf8")) ?? [];
  return Number.parseInt(to, 16) - Number.parseInt(from, 16);
}

if (process.argv[2] === "ours") await runtimeFunctions();
const before = heapBytes();
for (let count = 0; count < 3; count++) release(new Float32Array(2 ** 22));
const arrays = Array.from({ length: 4 }, () => new Float32Array(2 ** 22));
console.log(JSON.stringify({ grown: heapBytes() - before, zeros: arrays.every((array) => array[0] === 0) }));
