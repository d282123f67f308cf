import { checkpoint } from "../../onnx/checkpoint.ts";
import type { FloatValue, IntValue } from "../../onnx/graph.ts";
import { gather } from "../../onnx/indexing.ts";
import type { PaddedLayout } from "../../onnx/padding.ts";
import { windowOf } from "../config/model-config.ts";
import { attentionInputs, type DecoderModel, finalNorm } from "./decoder-blocks.ts";
import { decoderLayer } from "./decoder-layer.ts";
import { choiceAsTold } from "./expert-choice.ts";
import { embedRows, type ImageRows } from "./image-embeddings.ts";
import { type PrefixRows, wholeAttention } from "./whole-attention.ts";

/** The inputs of a forward pass: whole sequences, one after the other without padding. */
export interface DecoderInputs {
  /** [rows]. */
  tokens: IntValue;
  /** [rows]: each token's position in its sequence. */
  positions: IntValue;
  /**
   * The rows' places when sequences are padded to [batch, length] for attention. Only rows after the prefix, if there
   * is one.
   */
  layout: PaddedLayout;
  /** The numbers of the rows that all sequences begin with, which come first, and those of the other rows. */
  prefix?: PrefixRows | undefined;
  /** The rows whose next token matters. Only they pass through the last feed-forward block and the heads. */
  actions: IntValue;
  /** For each row and router of `routedLayers`, the expert of its tie during sampling; −1 without one. */
  ties?: IntValue | undefined;
  /** For a vision-language model. */
  images?: ImageRows | undefined;
}

/** The options of a forward pass. */
export interface DecoderOptions {
  /**
   * The number of layers, from the first, for which a backward pass keeps only the inputs and recomputes the layer.
   * Default: 0.
   */
  recomputed?: number;
  /** Default "kept". */
  attention?: AttentionForm;
}

/**
 * How a backward pass gets attention's weights.
 * - `kept`: all weights are kept.
 * - `again`: those of a layer are recomputed.
 * - `tiled`: those of a tile of queries are recomputed. Sequences are padded to whole tiles.
 * - `prefixed`, `prefixedAgain`: like the first two, for sequences with a common beginning, whose attention is computed
 *   once.
 */
export type AttentionForm = "kept" | "again" | "tiled" | "prefixed" | "prefixedAgain";

/** Whether the common beginning of sequences is separated from the rest. */
export function hasPrefix(form: AttentionForm): boolean {
  return form === "prefixed" || form === "prefixedAgain";
}

/**
 * Returns final normed hidden states [actions, hidden] only for the requested rows. The first layers are the recomputed
 * ones, because a backward pass needs the last layers' kept values first and then releases them. If the layout's length
 * is `tiledLength`, attention runs tile by tile.
 */
export function decoderForward(
  decoder: DecoderModel,
  { tokens, positions, layout, prefix, actions, ties, images }: DecoderInputs,
  { recomputed = 0, attention = "kept" }: DecoderOptions = {},
): FloatValue {
  const { config, onProcessor = false } = decoder;
  const last = config.num_hidden_layers - 1;
  const ofLayer = (layer: number, told: IntValue) => (layer === last ? gather(told, actions) : told);
  const model = ties ? { ...decoder, choose: choiceAsTold(config, ties, ofLayer) } : decoder;
  const attendAll = wholeAttention(config, layout, prefix, onProcessor);
  const isMadeAgain = attention === "again" || attention === "prefixedAgain";
  let hidden = embedRows(model, tokens, images);
  for (let layer = 0; layer <= last; layer++) {
    const isRecomputed = layer < recomputed;
    const attend = (normed: FloatValue) => {
      const inputs = attentionInputs(model, layer, normed, positions);
      const attended = () => attendAll(inputs, windowOf(config, layer));
      const { queries, keys, values } = inputs;
      return isMadeAgain && !isRecomputed ? checkpoint([queries, keys, values], attended) : attended();
    };
    const input = hidden;
    const select = layer === last ? (rows: FloatValue) => gather(rows, actions) : undefined;
    const forward = () => decoderLayer(model, layer, input, attend, select);
    hidden = isRecomputed ? checkpoint([input, ...layerParameters(model, layer)], forward) : forward();
  }
  return finalNorm(model, hidden);
}

function layerParameters({ weights, adapter }: DecoderModel, layer: number): FloatValue[] {
  const ofLayer = ([name]: [string, unknown]) => name.startsWith(`model.layers.${layer}.`);
  const pairs = [...(adapter?.pairs ?? [])].filter(ofLayer).flatMap(([, { a, b }]) => [a, b]);
  return [...[...weights].filter(ofLayer).map(([, weight]) => weight), ...pairs];
}
