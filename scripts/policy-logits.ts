// Prints Everturn's logits for a policy folder, as JSON: `node scripts/policy-logits.ts FOLDER 1,2,3` gives one
// row of logits after each of the tokens. check-transformers.py compares them with transformers' own.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readModelConfig } from "../src/engine/models/config/model-config-file.ts";
import { createCachedDecoder } from "../src/engine/models/decode/create-cached-decoder.ts";
import { adapterConfigFile } from "../src/engine/models/weights/adapter-folder.ts";
import { loadAll } from "../src/engine/models/weights/lazy-tensor.ts";
import { openPolicyWeights } from "../src/engine/models/weights/policy-weights.ts";
import { weightSources } from "../src/engine/models/weights/weight-sources.ts";
import { createDecoderCache } from "../src/engine/sampling/key-value-cache.ts";

const [folder = "", list = ""] = process.argv.slice(2);
const tokens = list.split(",").map(Number);
const config = await readModelConfig(join(folder, "config.json"));
/** A whole model's are mapped: a graph of two gigabytes can't be made. */
const weights = existsSync(join(folder, adapterConfigFile))
  ? { tensors: await loadAll(await openPolicyWeights(folder)) }
  : await weightSources(folder);
const model = await createCachedDecoder(config, weights, { threads: 1 });
const cache = createDecoderCache(model);
cache.arrange(
  tokens.map(() => -1),
  tokens.map(() => tokens.length),
);
const past = { ...cache.view(0, tokens.length), capacity: cache.capacity(), lengths: tokens.map(() => 0) };
const { logits } = await model.run({ tokens: tokens.map((_, index) => tokens.slice(0, index + 1)), past });
const rows = tokens.map((_, row) => [
  ...logits.subarray(row * config.vocab_size, (row + 1) * config.vocab_size),
]);
console.log(JSON.stringify(rows));
await model.close();
