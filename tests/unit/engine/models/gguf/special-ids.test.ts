import { expect, test } from "vitest";
import { specialIds } from "../../../../../src/engine/models/weights/gguf/special-ids.ts";
import type { GgufValue } from "../../../../../src/engine/models/weights/gguf/value-types.ts";

const tokens = ["<s>", "</s>", "<turn end>", "<message end>", "<|eom_id|>", "<|eot_id|>", "a"];
const types = [3, 3, 3, 3, 3, 1, 1];

function header(ids: Record<string, number>) {
  const metadata = new Map<string, GgufValue>([
    ["tokenizer.ggml.tokens", tokens],
    ["tokenizer.ggml.token_type", types],
  ]);
  for (const [name, id] of Object.entries(ids)) metadata.set(`tokenizer.ggml.${name}_token_id`, id);
  return { metadata, tensors: new Map() };
}

test("eos, eot and eom end an action, and control tokens that llama.cpp knows by their texts", () => {
  const named = specialIds("a.gguf", header({ bos: 0, eos: 1, eot: 2, eom: 3 }));
  expect(named).toEqual({ bos_token_id: 0, eos_token_id: [1, 2, 3, 4], pad_token_id: null });
  expect(specialIds("a.gguf", header({ eos: 1, eom: 1, padding: 0 }))).toEqual({
    bos_token_id: null,
    eos_token_id: [1, 4],
    pad_token_id: 0,
  });
  expect(() => specialIds("a.gguf", header({ bos: 0 }))).toThrow("tokenizer.ggml.eos_token_id is missing");
});
