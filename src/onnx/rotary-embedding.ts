import { negate } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type FloatValue, graphError, type IntValue } from "./graph.ts";
import { runtimeDomain } from "./runtime-domain.ts";

/** Cosines and sines by position, each [positions, head size / 2]. */
export interface RotaryTables {
  cosines: FloatValue;
  sines: FloatValue;
}

/**
 * Rotates x, [batch, length, heads · head size] or [batch, heads, length, head size], by its positions
 * [batch, length] (RoPE, arXiv 2104.09864), halves of a head paired as Hugging Face does.
 */
export function rotaryEmbedding(x: FloatValue, positions: IntValue, tables: RotaryTables): FloatValue {
  if (x.shape.length < 3) throw graphError("rotaryEmbedding wants [batch, length, heads · head size]");
  const inputs = [x, positions, tables.cosines, tables.sines];
  return x.graph.emit("RotaryEmbedding", inputs, { dtype: "float32", shape: x.shape }, {}, runtimeDomain);
}

/** A rotation's transpose is the rotation back. */
export const rotaryEmbeddingRule: GradientRule = (dy, { floats: [, cosines, sines], ints: [positions] }) => [
  rotaryEmbedding(dy, positions, { cosines, sines: negate(sines) }),
];
