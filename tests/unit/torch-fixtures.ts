import { readFile } from "node:fs/promises";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import { parseModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { readSafetensors, type Tensor } from "../../src/engine/models/weights/safetensors.ts";

const fixtures = new URL("../fixtures/", import.meta.url);

/** A fixture of scripts/make-torch-fixtures.py (or another folder's): its tensors, its JSON, and the configuration in it. */
export async function torchFixture(
  name: string,
  folder = "torch",
): Promise<{
  config: ModelConfig;
  json: Record<string, unknown>;
  tensors: Map<string, Tensor>;
}> {
  const json: Record<string, unknown> = JSON.parse(
    await readFile(new URL(`${folder}/${name}.json`, fixtures), "utf8"),
  );
  const tensors = await readSafetensors(new URL(`${folder}/${name}.safetensors`, fixtures).pathname);
  return { config: parseModelConfig(JSON.stringify(json.config), name), json, tensors };
}

/** The tensors whose names begin with a prefix, by the rest of their names. */
export function withPrefix(tensors: ReadonlyMap<string, Tensor>, prefix: string): Map<string, Tensor> {
  return new Map(
    [...tensors].flatMap(([name, tensor]): [string, Tensor][] =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), tensor]] : [],
    ),
  );
}

/** The largest difference between two arrays over the largest number of the second. */
export function relativeError(actual: Float32Array, expected: Float32Array): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY;
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const gap = expected.reduce((most, value, at) => Math.max(most, Math.abs(value - actual[at]!)), 0);
  return gap / largest;
}
