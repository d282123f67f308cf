import { add } from "../../onnx/elementwise.ts";
import type { FloatValue } from "../../onnx/graph.ts";
import { families } from "../config/families.ts";
import { type DecoderModel, norm, projection } from "./decoder-blocks.ts";
import { feedForward } from "./feed-forward.ts";

/**
 * Applies one decoder layer to rows [rows, hidden]. `attend` computes the attention of normed rows and returns rows
 * [rows, heads · head size]. With `select`, only the rows that it picks continue after that.
 */
export function decoderLayer(
  model: DecoderModel,
  layer: number,
  hidden: FloatValue,
  attend: (normed: FloatValue) => FloatValue,
  select: (rows: FloatValue) => FloatValue = (rows) => rows,
): FloatValue {
  const { normsAfter } = families[model.config.model_type];
  const name = (module: string) => `model.layers.${layer}.${module}`;
  const normed = (x: FloatValue, module: string) => norm(model, x, name(module));
  const attended = select(attend(normed(hidden, "input_layernorm")));
  const projected = projection(model, attended, name("self_attn.o_proj"));
  if (!normsAfter) {
    const mixed = add(select(hidden), projected);
    return add(mixed, feedForward(model, layer, normed(mixed, "post_attention_layernorm")));
  }
  const mixed = add(select(hidden), normed(projected, "post_attention_layernorm"));
  const fed = feedForward(model, layer, normed(mixed, "pre_feedforward_layernorm"));
  return add(mixed, normed(fed, "post_feedforward_layernorm"));
}
