import { expect, test } from "vitest";
import { llamaForward } from "../../../src/models/llama.ts";
import { languageModelHead, rotaryTables } from "../../../src/models/llama-blocks.ts";
import type { LlamaConfig } from "../../../src/models/llama-config.ts";
import { checkLlamaWeights, llamaWeightShapes, weightInputs } from "../../../src/models/llama-weights.ts";
import type { Tensor } from "../../../src/models/safetensors.ts";
import { createGraph } from "../../../src/onnx/graph.ts";
import { modelBytes } from "../../../src/onnx/model-bytes.ts";
import { createSession } from "../../../src/onnx/session.ts";
import { relativeError, torchFixture } from "../torch-fixtures.ts";

/** Logits of every token of padded sequences, one after the other. */
async function logitsOf(config: LlamaConfig, weights: ReadonlyMap<string, Tensor>, sequences: number[][]) {
  const graph = createGraph();
  const model = {
    config,
    weights: weightInputs(graph, llamaWeightShapes(config)),
    tables: rotaryTables(graph, config),
  };
  const inputs = {
    tokens: graph.input("tokens", "int64", ["batch", "length"]),
    positions: graph.input("positions", "int64", ["batch", "length"]),
    rows: graph.input("rows", "int64", ["rows"]),
  };
  graph.output("logits", languageModelHead(model, llamaForward(model, inputs)));
  const session = await createSession(modelBytes(graph), { threads: 1 });
  const length = Math.max(...sequences.map((tokens) => tokens.length)) + 3;
  const padded = sequences.flatMap((tokens) => Array.from({ length }, (_, at) => BigInt(tokens[at] ?? 0)));
  const rows = sequences.flatMap((tokens, index) => tokens.map((_, at) => BigInt(index * length + at)));
  const shape = [sequences.length, length];
  const outputs = await session.run({
    ...Object.fromEntries([...llamaWeightShapes(config).keys()].map((name) => [name, weights.get(name)!])),
    tokens: { shape, data: BigInt64Array.from(padded) },
    positions: { shape, data: BigInt64Array.from(padded, (_, at) => BigInt(at % length)) },
    rows: { shape: [rows.length], data: BigInt64Array.from(rows) },
  });
  await session.close();
  return outputs.floats("logits");
}

test.each(["tied", "untied"])(
  "logits of a %s model are those of transformers, whatever the padding",
  async (name) => {
    const { config, json, tensors } = await torchFixture(`llama-${name}`);
    const sequences = json.sequences as number[][];
    checkLlamaWeights(config, tensors);
    const logits = await logitsOf(config, tensors, sequences);
    let start = 0;
    for (const [index, tokens] of sequences.entries()) {
      const end = start + tokens.length * config.vocab_size;
      expect(relativeError(logits.slice(start, end), tensors.get(`logits.${index}`)!.data)).toBeLessThan(
        1e-5,
      );
      start = end;
    }
  },
);
