import type { GgufHeader } from "../../src/engine/models/weights/gguf/header.ts";

/** Makes the metadata of Gemma 4's vocabulary that of an earlier Gemma: pieces without merges. */
export function asEarlierGemma(metadata: GgufHeader["metadata"]): void {
  metadata.set("general.architecture", "gemma3");
  metadata.set("tokenizer.ggml.model", "llama");
  metadata.delete("tokenizer.ggml.merges");
}
