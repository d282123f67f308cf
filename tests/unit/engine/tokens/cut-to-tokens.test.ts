import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { byteTokenizer } from "../../../../src/engine/tokens/byte-tokenizer.ts";
import { anyOf } from "../../../../src/engine/tokens/control-text.ts";
import { cutToTokens } from "../../../../src/engine/tokens/cut-to-tokens.ts";
import { loadTokenizer, type Tokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { publishedTokenizer } from "../../../support/published-tokenizer.ts";
import { drawsOf, randomText } from "../../../support/random-text.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const work = temporaryFolder();
beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

const template = "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}";
const opened: [string, () => Promise<Tokenizer>][] = [
  ["fixture", () => loadTokenizer(join(import.meta.dirname, "fixtures/tokenizer"))],
  ["bytes", async () => byteTokenizer(["<|im_start|>", "<|im_end|>"], template)],
  [
    "SentencePiece",
    () =>
      publishedTokenizer("llama-spm", join(work, "spm"), (metadata) => {
        metadata.set("tokenizer.chat_template", template);
      }),
  ],
];
const ways = ["end", "start", "middle"] as const;

/** Ids of a text in which control tokens are text. */
function textTokens({ encode, control }: Tokenizer, text: string): number[] {
  const found = [...text.matchAll(anyOf(control.all))];
  return encode(
    text,
    found.map(({ 0: token, index }) => ({ start: index, end: index + token.length })),
  );
}

test.each(opened)("a random text is cut to its tokens, whole characters of it: %s", async (name, open) => {
  const tokenizer = await open();
  const { all } = tokenizer.control;
  const ids = new Set(all.map((token) => tokenizer.idOf(token)));
  for (let number = 0; number < 60; number++) {
    const draws = drawsOf(`cut ${name} ${number}`);
    const text = number === 0 ? all.join(" ").repeat(40) : randomText(draws, all).repeat(1 + draws.below(8));
    const limit = { tokens: 32 + draws.below(40), cut: ways[number % 3] ?? "end" };
    const whole = textTokens(tokenizer, text.toWellFormed());
    const { text: part, cut } = cutToTokens(tokenizer, text, limit);
    const label = `${number} ${JSON.stringify(text.slice(0, 80))}`;
    if (whole.length <= limit.tokens) {
      expect({ part, cut }, label).toEqual({ part: text, cut: 0 });
      continue;
    }
    const tokens = textTokens(tokenizer, part);
    expect(tokens.length, label).toBeLessThanOrEqual(limit.tokens);
    expect(
      tokens.filter((token) => ids.has(token)),
      label,
    ).toEqual([]);
    expect(part.isWellFormed(), label).toBe(true);
    expect(part, label).toContain(`[${cut} tokens cut]`);
    expect(cut, label).toBeGreaterThan(0);
    expect(cut, label).toBeLessThanOrEqual(whole.length);
    if (!text.toWellFormed().includes("\ufffd")) expect(part, label).not.toContain("\ufffd");
  }
});

test("what stays are the first tokens, the last ones, or both, and the line counts among them", async () => {
  const tokenizer = byteTokenizer(["<EOS>"], template);
  const text = "0123456789".repeat(10);
  const cut = (way: (typeof ways)[number], tokens = 40) => cutToTokens(tokenizer, text, { tokens, cut: way });
  expect(cut("end")).toEqual({ text: `${text.slice(0, 24)}\n[76 tokens cut]`, cut: 76 });
  expect(cut("start")).toEqual({ text: `[76 tokens cut]\n${text.slice(-24)}`, cut: 76 });
  expect(cut("middle")).toEqual({
    text: `${text.slice(0, 12)}\n[77 tokens cut]\n${text.slice(-11)}`,
    cut: 77,
  });
  expect(cut("end", 100)).toEqual({ text, cut: 0 });
  const birds = cutToTokens(tokenizer, "🦜".repeat(30), { tokens: 40, cut: "end" });
  expect(birds).toEqual({ text: "🦜🦜🦜🦜🦜🦜\n[96 tokens cut]", cut: 96 });
});
