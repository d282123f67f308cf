import type { Chunk, Datum, ModelInput, Tokens } from "../types.ts";
import { invalid, type ReadyTensor, readyTensor } from "./tensors.ts";

/** An example that is checked and ready to be sent. */
export interface ReadyDatum {
  readonly chunks: readonly Chunk[];
  readonly lossInputs: readonly (readonly [name: string, tensor: ReadyTensor])[];
}

/** Converts and checks examples. Throws `invalid-request`: servers fill tensors of wrong lengths up silently, or crash. */
export function readyData(data: readonly Datum[]): ReadyDatum[] {
  if (data.length === 0) throw invalid("there are no examples");
  return data.map((datum, index) => readyDatum(datum, `example ${index}`));
}

/** The chunks of an input. Throws `invalid-request` if a token is not an int32 of at least 0, or the input is empty. */
export function chunksOf(input: ModelInput, where: string): readonly Chunk[] {
  const chunks = isTokens(input) ? [{ type: "text", tokens: input } as const] : input;
  for (const chunk of chunks) if (chunk.type === "text") checkTokens(chunk.tokens, where);
  if (lengthOf(chunks) === 0) throw invalid(`${where} has no tokens`);
  return chunks;
}

/** The number of an input's tokens; undefined if it contains an image of unknown length. */
export function lengthOf(chunks: readonly Chunk[]): number | undefined {
  let length = 0;
  for (const chunk of chunks) {
    const own = chunk.type === "text" ? chunk.tokens.length : chunk.expectedTokens;
    if (own === undefined) return undefined;
    length += own;
  }
  return length;
}

/** The chunks in the JSON wire's form. */
export function inputJson(chunks: readonly Chunk[]): unknown {
  return {
    chunks: chunks.map((chunk) => {
      if (chunk.type === "text") return { type: "encoded_text", tokens: Array.from(chunk.tokens) };
      const { type, data, format, expectedTokens } = chunk;
      const base64 = Buffer.from(data).toString("base64");
      return expectedTokens === undefined
        ? { type, data: base64, format }
        : { type, data: base64, format, expected_tokens: expectedTokens };
    }),
  };
}

function readyDatum({ input, lossInputs }: Datum, where: string): ReadyDatum {
  const chunks = chunksOf(input, where);
  const tensors = Object.entries(lossInputs).map(
    ([name, tensor]) => [name, readyTensor(name, tensor, `${name} of ${where}`)] as const,
  );
  let [length, source] = [lengthOf(chunks), "the input"];
  for (const [name, { shape }] of tensors) {
    if (shape.length === 0) continue;
    const [rows] = shape;
    if (length !== undefined && rows !== length)
      throw invalid(`${name} of ${where} has ${rows} rows, but ${source} has ${length}`);
    [length, source] = [rows, name];
  }
  return { chunks, lossInputs: tensors };
}

function isTokens(input: ModelInput): input is Tokens {
  return input instanceof Int32Array || typeof input[0] !== "object";
}

function checkTokens(tokens: Tokens, where: string): void {
  const wrong = tokens.findIndex((token) => !Number.isInteger(token) || token < 0 || token > 2 ** 31 - 1);
  if (wrong >= 0)
    throw invalid(`${where} has ${tokens[wrong]} at position ${wrong}, which is not a token id`);
}
