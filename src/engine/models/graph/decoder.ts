import { checkpoint } from "../../onnx/checkpoint.ts";
import type { FloatValue, IntValue } from "../../onnx/graph.ts";
import { gather } from "../../onnx/indexing.ts";
import type { PaddedLayout } from "../../onnx/padding.ts";
import { windowOf } from "../config/model-config.ts";
import { attentionInputs, type DecoderModel, embedTokens, finalNorm } from "./decoder-blocks.ts";
import { decoderLayer } from "./decoder-layer.ts";
import { choiceAsTold } from "./expert-choice.ts";
import { type PrefixRows, wholeAttention } from "./whole-attention.ts";

/** What a forward pass reads: whole sequences, one after the other without padding. */
export interface DecoderInputs {
  /** [rows]. */
  tokens: IntValue;
  /** [rows]: where each token stands in its sequence. */
  positions: IntValue;
  /** Where the rows lie when sequences are padded to [batch, length], as attention wants them; those after the prefix, if there is one. */
  layout: PaddedLayout;
  /** The numbers of the rows that all sequences begin with, which come first, and those of the others. */
  prefix?: PrefixRows | undefined;
  /** The rows whose next token matters: only they go through the last feed-forward block and the heads. */
  actions: IntValue;
  /** Of each row and router of `routedLayers`, the expert of its tie as it was sampled; −1 where there is none. */
  ties?: IntValue | undefined;
}

/** How a forward pass is computed. */
export interface DecoderOptions {
  /** Layers, from the first, of which a backward pass keeps nothing but their inputs, and computes them again. Default 0. */
  recomputed?: number;
  /** Default "kept". */
  attention?: AttentionForm;
}

/**
 * What a backward pass has of attention's weights: all of them, kept; none, as it makes those of a layer again, or those of a tile of
 * queries: sequences are then padded to whole tiles. `prefixed` and `prefixedAgain` are the first two where all sequences begin alike, and
 * what they begin with attends once.
 */
export type AttentionForm = "kept" | "again" | "tiled" | "prefixed" | "prefixedAgain";

/** Whether sequences are taken apart into what all begin with, and what is their own. */
export function hasPrefix(form: AttentionForm): boolean {
  return form === "prefixed" || form === "prefixedAgain";
}

/**
 * Final normed hidden states [actions, hidden] at the wanted rows alone. Of layers that are computed again, the first ones come
 * first: of the last ones a backward pass needs what they kept first, and then has it free. Where the layout's length is
 * `tiledLength`, attention goes tile by tile.
 */
export function decoderForward(
  decoder: DecoderModel,
  { tokens, positions, layout, prefix, actions, ties }: DecoderInputs,
  { recomputed = 0, attention = "kept" }: DecoderOptions = {},
): FloatValue {
  const { config, onProcessor = false } = decoder;
  const last = config.num_hidden_layers - 1;
  const ofLayer = (layer: number, told: IntValue) => (layer === last ? gather(told, actions) : told);
  const model = ties ? { ...decoder, choose: choiceAsTold(config, ties, ofLayer) } : decoder;
  const attendAll = wholeAttention(config, layout, prefix, onProcessor);
  const isMadeAgain = attention === "again" || attention === "prefixedAgain";
  let hidden = embedTokens(model, tokens);
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
