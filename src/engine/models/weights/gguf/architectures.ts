import { type Family, families } from "../../config/families.ts";

/** The architectures of GGUF that can be read and written, by llama.cpp's names; Mistral's models call themselves llama. */
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

/** The names of all. */
export const architectures: readonly string[] = [...known.keys()];

/** The family of an architecture; undefined if it can't be read. */
export function familyOf(architecture: unknown): Family | undefined {
  return typeof architecture === "string" ? known.get(architecture) : undefined;
}

/** The architecture of a family. */
export function architectureOf(family: Family): string {
  const wanted = family === "mistral" ? "llama" : family;
  return [...known].find(([, one]) => one === wanted)![0];
}

/** Whether the rows of a family's queries and keys lie in another order: rotated pairs side by side, not half a head apart. */
export function permutesHeads(family: Family): boolean {
  return family === "llama" || family === "mistral" || family === "smollm3";
}

/** What llama.cpp divides the scores of a later Gemma by the square root of: heads' size, or what a head has of the largest one's hidden size. */
export function queryScalar(
  family: Family,
  { hidden, heads, size, layers }: { hidden: number; heads: number; size: number; layers: number },
): number {
  const largest = family === "gemma2" ? 46 : 62; // layers of the models of 27 billion
  return families[family].queryScalar !== undefined && layers === largest ? hidden / heads : size;
}
