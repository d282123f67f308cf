import { negate } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type Attributes, type FloatValue, graphError, type IntValue } from "./graph.ts";
import { runtimeDomain } from "./runtime-domain.ts";

/** Cosines and sines by position, each [positions, head size / 2]. */
export interface RotaryTables {
  cosines: FloatValue;
  sines: FloatValue;
}

/**
 * Rotates x, [batch, length, heads · head size] or [batch, heads, length, head size], by its positions [batch, length]
 * (RoPE, arXiv 2104.09864), with the halves of a head paired like in Hugging Face's models. If tables cover less than a
 * head, `headSize` is required, and the rest of each head stays unchanged.
 */
export function rotaryEmbedding(
  x: FloatValue,
  positions: IntValue,
  tables: RotaryTables,
  headSize?: number,
): FloatValue {
  if (x.shape.length < 3) throw graphError("rotaryEmbedding wants [batch, length, heads · head size]");
  const rotated = 2 * Number(tables.cosines.shape[1]);
  const isWhole = headSize === undefined || headSize === rotated;
  const heads = x.shape.length === 4 ? Number(x.shape[1]) : Number(x.shape[2]) / (headSize ?? rotated);
  const attributes = isWhole ? {} : { num_heads: heads, rotary_embedding_dim: rotated };
  return rotate(x, positions, tables, attributes);
}

function rotate(
  x: FloatValue,
  positions: IntValue,
  tables: RotaryTables,
  attributes: Attributes,
): FloatValue {
  const inputs = [x, positions, tables.cosines, tables.sines];
  const output = { dtype: "float32", shape: x.shape } as const;
  return x.graph.emit("RotaryEmbedding", inputs, output, attributes, runtimeDomain);
}

/** The transpose of a rotation is the opposite rotation. */
export const rotaryEmbeddingRule: GradientRule = (
  dy,
  { floats: [, cosines, sines], ints: [positions], attributes },
) => [rotate(dy, positions, { cosines, sines: negated(sines) }, attributes)];

/**
 * Negated tables of sines, by table. The runtime makes a constant of each negation, which takes 16 MiB for 131,072
 * positions.
 */
const negatives = new WeakMap<FloatValue, FloatValue>();

function negated(sines: FloatValue): FloatValue {
  const known = negatives.get(sines) ?? negate(sines);
  negatives.set(sines, known);
  return known;
}
