import { product } from "../../onnx/dimensions.ts";
import { geGlu, geGluTanh, swiGlu } from "../../onnx/gated-units.ts";
import type { FloatValue } from "../../onnx/graph.ts";
import { reshape } from "../../onnx/shaping.ts";
import { expertsOf } from "../config/model-config.ts";
import { type DecoderModel, projection, projections } from "./decoder-blocks.ts";
import { mixtureOfExperts } from "./experts.ts";

const gatedUnits = { silu: swiGlu, gelu: geGlu, gelu_pytorch_tanh: geGluTanh };

/** Applies the feed-forward block of a layer to normed rows [rows, hidden]. */
export function feedForward(model: DecoderModel, layer: number, normed: FloatValue): FloatValue {
  const experts = expertsOf(model.config, layer);
  if (!experts) return gatedBlock(model, `model.layers.${layer}.mlp`, normed);
  const rows = reshape(normed, [product(normed.shape.slice(0, -1)), normed.shape.at(-1)!]);
  const block = (module: string, chosen: FloatValue) => gatedBlock(model, module, chosen);
  return reshape(mixtureOfExperts(model, layer, rows, experts, block), normed.shape);
}

/** Applies a gated unit with its three linear maps under a module's name (arXiv 2002.05202). */
function gatedBlock(model: DecoderModel, parent: string, x: FloatValue): FloatValue {
  const [gate, up] = projections(model, x, parent, ["gate_proj", "up_proj"]);
  const units = gatedUnits[model.config.hidden_act](gate!, up!);
  return projection(model, units, `${parent}.down_proj`);
}
