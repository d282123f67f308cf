// Prints Everturn's logits for a policy folder, as JSON: `node scripts/policy-logits.ts FOLDER 1,2,3` gives one
// row of logits after each of the tokens. check-transformers.py compares them with transformers' own.
import { join } from "node:path";
import { createCachedDecoder } from "../src/models/cached-decoder.ts";
import { readModelConfig } from "../src/models/model-config-file.ts";
import { readPolicyWeights } from "../src/models/policy-weights.ts";

const [folder = "", list = ""] = process.argv.slice(2);
const tokens = list.split(",").map(Number);
const config = await readModelConfig(join(folder, "config.json"));
const weights = await readPolicyWeights(folder);
const model = await createCachedDecoder(config, { tensors: weights }, { threads: 1 });
const { logits } = await model.run({ tokens: tokens.map((_, index) => tokens.slice(0, index + 1)) });
const rows = tokens.map((_, row) => [
  ...logits.subarray(row * config.vocab_size, (row + 1) * config.vocab_size),
]);
console.log(JSON.stringify(rows));
await model.close();
