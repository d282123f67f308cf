import { expect, test } from "vitest";
import { foreignCalls } from "../../../../src/engine/onnx/foreign-calls.ts";
import { memoryAdvice } from "../../../../src/engine/onnx/memory-advice.ts";

const megabyte = 2 ** 20;

test.runIf(process.platform === "linux")(
  "small blocks that are free leave the heap when they are given back",
  async () => {
    const { koffi } = await foreignCalls();
    const library = koffi.load(null);
    const allocate = library.func("void *calloc(size_t, size_t)");
    const fill = library.func("void *memset(void *, int, size_t)");
    const free = library.func("void free(void *)");
    const advice = memoryAdvice(koffi)!;
    advice.giveBackHeap();
    const blocks = Array.from({ length: 2000 }, () => fill(allocate(1, megabyte / 20), 1, megabyte / 20));
    const taken = process.memoryUsage.rss();
    // The last one holds the others: a heap gives back by itself only what is behind all that is used.
    const last = blocks.pop();
    for (const block of blocks) free(block);
    expect((taken - process.memoryUsage.rss()) / megabyte).toBeLessThan(50);
    advice.giveBackHeap();
    expect((taken - process.memoryUsage.rss()) / megabyte).toBeGreaterThan(80);
    free(last);
  },
);
