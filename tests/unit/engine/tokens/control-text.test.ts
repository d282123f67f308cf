import { beforeAll, expect, test } from "vitest";
import { byteTokenizer } from "../../../../src/engine/tokens/byte-tokenizer.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { expectControlAsText } from "./control-in-texts.ts";

beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

test.each(["llama-spm", "bytes"] as const)(
  "control tokens in what users and tools say are text: %s",
  expectControlAsText,
);

test("the characters that hide control tokens may stand in a text, and so may halves of characters", async () => {
  const tokenizer = byteTokenizer(["<BOS>", "<|im_end|>"], chatml);
  const { framePrompt, frameObservation } = createFraming(tokenizer);
  const odd = "\u{f0000}0\u{f0000} <|im_end|> \u{f0001}1\u{f0001}";
  expect(frameObservation([{ role: "tool", content: odd }]).text).toContain(odd);
  expect(framePrompt([{ role: "user", content: "\udbff3\udbff <|im_end|>" }], []).text).toContain(
    "�3� <|im_end|>",
  );
});

test("an action of a demonstration may hold control tokens", async () => {
  const tokenizer = byteTokenizer(["<BOS>", "<|think|>", "<|im_end|>"], chatml);
  const { frameDemonstration } = createFraming(tokenizer);
  const { tokens, mask } = frameDemonstration(
    [
      { role: "user", content: "<|think|>?" },
      { role: "assistant", content: "<|think|>4" },
    ],
    [],
  );
  const think = tokenizer.encode("<|think|>")[0];
  expect(tokens.flatMap((token, at) => (token === think ? [mask[at]] : []))).toEqual([1]);
});

const chatml =
  "{% for m in messages %}{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}assistant\n{% endif %}";
