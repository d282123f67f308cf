import { dirname, join } from "node:path";
import { modelConfig } from "../../src/engine/models/config/model-config.ts";
import { exportGguf } from "../../src/engine/models/weights/gguf/export-gguf.ts";
import { modelWeightShapes } from "../../src/engine/models/weights/model-weights.ts";
import { writeConfigFiles } from "../../src/engine/models/weights/policy-folder.ts";
import { constantOf } from "../../src/engine/models/weights/random-weights.ts";
import { elementCount } from "../../src/engine/onnx/element-count.ts";
import { asEarlierGemma } from "../support/gemma-vocabulary.ts";
import { publishedTemplate, publishedTokenizer } from "../support/published-tokenizer.ts";
import type { PublishedShape } from "./published-shapes.ts";

// node write-model.ts SHAPE FILE SEED: a GGUF file of the shape, given as JSON, with random weights.
const [json = "", file = "", seed] = process.argv.slice(2);
const { vocabulary, template, config }: PublishedShape = JSON.parse(json);
const folder = join(dirname(file), "random");
const text = await publishedTemplate(template);
const { stopTokens, specialTokens, idOf } = await publishedTokenizer(vocabulary, folder, (metadata) => {
  if (config.model_type?.startsWith("gemma")) asEarlierGemma(metadata);
  metadata.set("tokenizer.chat_template", text);
});
const wanted = modelConfig(config);
const begin = idOf(specialTokens.bos_token ?? "") ?? null;
await writeConfigFiles(folder, wanted, { bos_token_id: begin, eos_token_id: stopTokens, pad_token_id: null });

/** Uniform numbers by xorshift: a billion of them in seconds, and random enough here. */
let state = 1 + Number(seed);
const draw = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state / 2 ** 31;
};
const widest = wanted.initializer_range * Math.sqrt(3);
const weights = [...modelWeightShapes(wanted)].map(([name, shape]) => {
  const load = async () => {
    const data = new Float32Array(elementCount(shape));
    if (shape.length === 1) data.fill(constantOf(name, wanted));
    else for (let at = 0; at < data.length; at++) data[at] = widest * draw();
    return { shape, data };
  };
  return [name, { shape, load }] as const;
});
await exportGguf(folder, new Map(weights), file, "F16");
