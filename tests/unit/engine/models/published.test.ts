import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
  contextLength,
  type ModelConfig,
  rotatedSize,
  scoreScale,
  windowOf,
} from "../../../../src/engine/models/config/model-config.ts";
import {
  formatModelConfig,
  parseModelConfig,
} from "../../../../src/engine/models/config/model-config-file.ts";
import { rotaryFrequencies } from "../../../../src/engine/models/config/rotary-scaling.ts";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { elementCount } from "../../../../src/engine/onnx/element-count.ts";
import { relativeError } from "../../torch-fixtures.ts";

/** What transformers reads in a published config.json: see scripts/make-published-fixtures.py. */
interface Read {
  parameters: number;
  shapes: string;
  windows: (number | null)[];
  rotated: (0 | 1)[];
  scaling: number;
  epsilon: number;
  rotations: Record<string, { frequencies: number[]; scale: number }>;
}

const folder = new URL("../../../fixtures/published/", import.meta.url);
const textOf = (name: string) => readFile(new URL(`${name}.json`, folder), "utf8");
const read: Record<string, Read> = JSON.parse(await textOf("read"));

function rotationOf(config: ModelConfig, kind: string) {
  const { rope_theta, rope_scaling } =
    kind === "sliding_attention_" && config.local_rope ? config.local_rope : config;
  return rotaryFrequencies(rotatedSize(config), rope_theta, rope_scaling);
}

test.each(Object.entries(read))(
  "%s: its config.json is read as transformers reads it",
  async (name, theirs) => {
    const config = parseModelConfig(await textOf(name), name);
    const shapes = [...modelWeightShapes(config)];
    expect(shapes.reduce((total, [, shape]) => total + elementCount(shape), 0)).toBe(theirs.parameters);
    const lines = shapes.map(([weight, shape]) => `${weight} [${shape.join(", ")}]`).sort();
    expect(createHash("sha256").update(lines.join("\n")).digest("hex")).toBe(theirs.shapes);
    const layers = theirs.windows.map((_, layer) => layer);
    const windows = layers.map((layer) => windowOf(config, layer) ?? Number.POSITIVE_INFINITY);
    expect(windows.map((window) => (window < contextLength(config) ? window : null))).toEqual(theirs.windows);
    expect(layers.map((layer) => config.no_rope_layers?.[layer] ?? 1)).toEqual(theirs.rotated);
    expect(scoreScale(config)).toBeCloseTo(theirs.scaling, 12);
    expect(config.rms_norm_eps).toBe(theirs.epsilon);
    for (const [kind, rotation] of Object.entries(theirs.rotations)) {
      const { frequencies, scale } = rotationOf(config, kind);
      expect(relativeError(frequencies, Float32Array.from(rotation.frequencies))).toBeLessThan(1e-6);
      expect(scale).toBeCloseTo(rotation.scale, 12);
    }
    const tokens = { bos_token_id: null, eos_token_id: 1, pad_token_id: null };
    expect(parseModelConfig(formatModelConfig(config, tokens), name)).toEqual(config);
  },
);

test("caps of Gemma 2, and the context of Phi-4-mini", async () => {
  expect(contextLength(parseModelConfig(await textOf("phi-4-mini-instruct"), ""))).toBe(4096);
  expect(parseModelConfig(await textOf("gemma-2-2b-it"), "")).toMatchObject({
    attn_logit_softcapping: 50,
    final_logit_softcapping: 30,
    tie_word_embeddings: true,
  });
});
