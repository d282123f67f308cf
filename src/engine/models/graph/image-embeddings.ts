import { elementTypes } from "../../onnx/element-types.ts";
import { intsWhere, less, lessOrEqual, where } from "../../onnx/elementwise.ts";
import type { BoolValue, FloatValue, IntValue, Value } from "../../onnx/graph.ts";
import { gather } from "../../onnx/indexing.ts";
import { reshape } from "../../onnx/shaping.ts";
import { type DecoderModel, embedTokens } from "./decoder-blocks.ts";

/** The image tokens among the rows of a forward pass. */
export interface ImageRows {
  /** [rows]: the row's number in `embeddings`; −1 for text. The token of an image row is ignored. */
  numbers: IntValue;
  /** [images, hidden]. */
  embeddings: FloatValue;
}

/** Returns the embeddings [rows, hidden] of tokens [rows], and of images in their rows. */
export function embedRows(model: DecoderModel, tokens: IntValue, images: ImageRows | undefined): FloatValue {
  const text = embedTokens(model, tokens);
  if (!images) return text;
  const { numbers, embeddings } = images;
  const none = numbers.graph.ints([0], []);
  const isText = less(numbers, none);
  return mixed(isText, text, gather(embeddings, intsWhere(isText, none, numbers)));
}

/**
 * Returns the embeddings of tokens. For a vision-language model, ids from the size of the vocabulary on are row numbers
 * of another input, `images` [images, hidden].
 */
export function embedTokensAndImages(model: DecoderModel, tokens: IntValue | Value<"int32">): FloatValue {
  const { vision, vocab_size, hidden_size } = model.config;
  if (!vision) return embedTokens(model, tokens);
  const { graph, shape } = tokens;
  const embeddings = graph.input("images", "float32", ["images", hidden_size]);
  const ids = graph.emit("Cast", [tokens], { dtype: "int64", shape }, { to: elementTypes.int64 });
  const [none, last] = [graph.ints([0], []), graph.ints([vocab_size - 1], [])];
  const isText = lessOrEqual(ids, last);
  const numbers = graph.emit("Sub", [ids, graph.ints([vocab_size], [])], { dtype: "int64", shape });
  const text = embedTokens(model, intsWhere(isText, ids, none));
  return mixed(isText, text, gather(embeddings, intsWhere(isText, none, numbers)));
}

function mixed(isText: BoolValue, text: FloatValue, images: FloatValue): FloatValue {
  return where(reshape(isText, [...isText.shape, 1]), text, images);
}
