import { type Family, families } from "../../config/families.ts";

/** The supported architectures of GGUF, by llama.cpp's names. Mistral's models use the name llama. */
const known: ReadonlyMap<string, Family> = new Map([
  ["llama", "llama"],
  ["qwen2", "qwen2"],
  ["qwen3", "qwen3"],
  ["qwen3moe", "qwen3_moe"],
  ["olmoe", "olmoe"],
  ["smollm3", "smollm3"],
  ["phi3", "phi3"],
  ["gemma", "gemma"],
  ["gemma2", "gemma2"],
  ["gemma3", "gemma3_text"],
]);

/** The names of all architectures. */
export const architectures: readonly string[] = [...known.keys()];

/** Returns the family of an architecture; undefined if it is not supported. */
export function familyOf(architecture: unknown): Family | undefined {
  return typeof architecture === "string" ? known.get(architecture) : undefined;
}

/** Returns the architecture of a family. */
export function architectureOf(family: Family): string {
  const wanted = family === "mistral" ? "llama" : family;
  return [...known].find(([, one]) => one === wanted)![0];
}

/**
 * Whether GGUF orders the rows of a family's queries and keys differently: rotated pairs are adjacent instead of half a
 * head apart.
 */
export function permutesHeads(family: Family): boolean {
  return family === "llama" || family === "mistral" || family === "smollm3";
}

/**
 * Returns llama.cpp's scaling for scores of a later Gemma, which are divided by its square root: the head size, or for
 * the largest model hidden size / heads.
 */
export function queryScalar(
  family: Family,
  { hidden, heads, size, layers }: { hidden: number; heads: number; size: number; layers: number },
): number {
  const largest = family === "gemma2" ? 46 : 62; // layers of the models with 27 billion parameters
  return families[family].queryScalar !== undefined && layers === largest ? hidden / heads : size;
}
