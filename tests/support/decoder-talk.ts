import { defined } from "../../src/base/records/defined.ts";
import type { CachedDecoder } from "../../src/engine/models/decode/cached-decoder.ts";
import type { Tensor } from "../../src/engine/models/weights/safetensors.ts";
import { createDecoderCache } from "../../src/engine/sampling/key-value-cache.ts";

/** What a decoder says while rows are read, continued, swapped, kept, and read on from what was kept; then some steps that are alike. */
export async function decoderTalk(decoder: CachedDecoder, adapter?: ReadonlyMap<string, Tensor>, alike = 13) {
  const cache = createDecoderCache(decoder);
  const run = async (
    tokens: number[][],
    lengths: number[],
    wanted: "logits" | "weights" | "choice" = "logits",
    first = 0,
  ) => {
    const past = { ...cache.view(first, first + tokens.length), capacity: cache.capacity(), lengths };
    const inverseTemperatures = Float32Array.from(tokens, (_, row) => 1 / (1 + row));
    const given = await decoder.run(
      defined({
        tokens,
        past,
        wanted: [wanted],
        inverseTemperatures,
        adapter,
      }),
    );
    if (wanted === "choice") return Float32Array.from(tokens, (_, row) => given.choice(row).probability);
    return given[wanted].slice(0, tokens.length * decoder.config.vocab_size);
  };
  cache.arrange([-1, -1], [64, 64]);
  const said = [
    await run(
      [
        [3, 1, 4, 1, 5, 9],
        [2, 6, 5, 3],
      ],
      [0, 0],
    ),
  ];
  said.push(await run([[7], [8]], [6, 4]));
  cache.arrange([1, 0], [64, 128]);
  said.push(await run([[7], [8]], [5, 7]));
  const block = cache.cut(1, 0, 8);
  cache.arrange([-1, -1, -1], [64, 64, 64]);
  for (const row of [0, 1, 2]) cache.write(row, 0, block, { row: 0, length: 8, count: 8 });
  said.push(
    await run(
      [
        [7, 8],
        [7, 9],
        [1, 8],
      ],
      [8, 8, 8],
      "weights",
    ),
  );
  said.push(await run([[2], [3], [4]], [10, 10, 10], "choice"));
  // More of each, read row by row, and of some rows beside others.
  said.push(
    await run(
      [
        [5, 6],
        [6, 7, 8],
        [1, 2],
      ],
      [11, 11, 11],
    ),
  );
  said.push(await run([[9], [8]], [14, 13], "logits", 1));
  // As many alike as are recorded, and some after them.
  for (let step = 0; step < alike; step++)
    said.push(await run([[2], [3], [4]], [13 + step, 15 + step, 14 + step]));
  return said;
}
