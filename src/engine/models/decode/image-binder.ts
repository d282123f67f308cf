import type { Bindings } from "../../onnx/bound-session.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { DecoderPass } from "./cached-decoder.ts";

/** New tokens of rows, and the embeddings of those that are image tokens. */
interface TokensWithImages extends Pick<DecoderPass, "tokens"> {
  embeddings?: DecoderPass["embeddings"] | undefined;
}

/**
 * Returns a function that binds the embeddings of the image tokens among a pass's tokens, and returns the tokens with
 * the embeddings' row numbers, as `embedTokensAndImages` expects them. It does nothing for models that read only text.
 */
export function imageBinder(
  bindings: Pick<Bindings, "keepInput">,
  { vision, vocab_size: vocabulary, hidden_size: width }: ModelConfig,
): (pass: TokensWithImages) => DecoderPass["tokens"] {
  if (!vision) return ({ tokens }) => tokens;
  const bind = (rows: readonly Float32Array[]) => {
    const count = Math.max(1, rows.length);
    const data = new Float32Array(count * width);
    rows.forEach((row, number) => {
      data.set(row, number * width);
    });
    bindings.keepInput("images", { shape: [count, width], data });
  };
  let isEmpty = false;
  return ({ tokens, embeddings }) => {
    const numbers = new Map<number, number>();
    const numbered = tokens.map((row) =>
      row.map((token) => {
        if (token < vocabulary) return token;
        const number = numbers.get(token) ?? numbers.size;
        numbers.set(token, number);
        return vocabulary + number;
      }),
    );
    if (numbers.size > 0 || !isEmpty) bind([...numbers.keys()].map((token) => embeddings!.embedding(token)));
    isEmpty = numbers.size === 0;
    return numbered;
  };
}
