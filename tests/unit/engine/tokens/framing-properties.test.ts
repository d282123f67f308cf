import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Segment } from "../../../../src/contracts/generated/segment.ts";
import type { Message, ToolDefinition } from "../../../../src/contracts/message.ts";
import { byteTokenizer } from "../../../../src/engine/tokens/byte-tokenizer.ts";
import { anyOf } from "../../../../src/engine/tokens/control-text.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { guessedControl } from "../../../../src/engine/tokens/guessed-control.ts";
import { loadTokenizer, type Tokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { trainingTrajectory } from "../../../../src/run/projections/training-trajectory.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { publishedTemplate, publishedTokenizer } from "../../../support/published-tokenizer.ts";
import { type Draws, drawsOf, randomText } from "../../../support/random-text.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** By hand: conversations of each tokenizer, such as 1000, the slow vocabularies included. */
const { EVERTURN_FRAMING_CASES: asked } = process.env;
const cases = Number(asked ?? 12);
const work = temporaryFolder();
beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

const zephyr =
  "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{{ eos_token }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}";

/** A published vocabulary, or bytes, with a template; whether the template keeps a conversation as it wrote it. */
const opened: [string, boolean, () => Promise<Tokenizer>][] = [
  ["fixture", true, () => loadTokenizer(join(import.meta.dirname, "fixtures/tokenizer"))],
  ["bytes, Qwen2.5", true, () => bytes("Qwen-Qwen2.5-7B-Instruct")],
  ["bytes, Qwen3", false, () => bytes("Qwen-Qwen3-0.6B")],
  ["bytes, Llama 3.2", true, () => bytes("meta-llama-Llama-3.2-3B-Instruct")],
  ["bytes, GLM 4.6", false, () => bytes("GLM-4.6")],
  ["bytes, gpt-oss", false, () => bytes("openai-gpt-oss-120b")],
  ["bytes, Mistral Small 3.2", false, () => bytes("Mistral-Small-3.2-24B-Instruct-2506")],
  ["bytes, Kimi K2", false, () => bytes("moonshotai-Kimi-K2")],
  ["bytes, MiniMax M2", false, () => bytes("MiniMax-M2")],
  ["llama-spm", true, () => published("llama-spm", zephyr)],
  ["phi-3", true, async () => published("phi-3", await publishedTemplate("microsoft-Phi-3.5-mini-instruct"))],
];

/** Vocabularies that take seconds to read. */
const slow: typeof opened = [
  ["qwen2", true, async () => published("qwen2", await publishedTemplate("Qwen-Qwen2.5-7B-Instruct"))],
  [
    "llama-bpe",
    true,
    async () => published("llama-bpe", await publishedTemplate("meta-llama-Llama-3.2-3B-Instruct")),
  ],
];

async function bytes(name: string): Promise<Tokenizer> {
  const template = await publishedTemplate(name);
  return byteTokenizer(["<BOS>", ...guessedControl(template), "<EOS>"], template);
}

function published(vocabulary: string, template: string): Promise<Tokenizer> {
  return publishedTokenizer(vocabulary, join(work, vocabulary), (metadata) => {
    metadata.set("tokenizer.chat_template", template);
  });
}

const ways = ["end", "start", "middle"] as const;
const texts = (messages: readonly Message[]) => messages.map(({ content }) => content);
/** Without what SentencePiece writes as a space. */
const without = (text: string) => text.replaceAll(/[\s▁]/gu, "");

test.each(asked === undefined ? opened : [...opened, ...slow])(
  "random conversations are framed whole and without control tokens of their own: %s",
  async (name, keeps, open) => {
    const tokenizer = await open();
    const framing = createFraming(tokenizer);
    const { all } = tokenizer.control;
    const ids = new Set(all.map((token) => tokenizer.idOf(token)));
    const controlIn = (tokens: readonly number[]) => tokens.filter((token) => ids.has(token));
    const known = anyOf(all);
    /** The same messages, without what looks like a control token. */
    const harmless = (messages: readonly Message[]) =>
      messages.map((message) => ({
        ...message,
        content: message.content.toWellFormed().replaceAll(known, "x"),
      }));
    for (let number = 0; number < cases; number++) {
      const draws = drawsOf(`${name} ${number}`);
      let first = number === 0;
      /** Of the first conversation, every control token at once. */
      const said = () => {
        const text = first ? all.join(" ") : randomText(draws, all);
        first = false;
        return text;
      };
      const tool: ToolDefinition = {
        name: "look",
        description: said(),
        parameters: { type: "object", properties: {} },
      };
      const opening: Message[] = [{ role: "user", content: `?${said()}` }];
      if (draws.below(2) === 0) opening.unshift({ role: "system", content: `:${said()}` });
      const prompt = framing.framePrompt(opening, [tool]);
      const plainTool = { ...tool, description: tool.description.toWellFormed().replaceAll(known, "x") };
      expect(controlIn(prompt.tokens), `${name} ${number}`).toEqual(
        controlIn(framing.framePrompt(harmless(opening), [plainTool]).tokens),
      );
      expectKept(tokenizer, prompt.tokens, texts(opening));
      const segments: Segment[] = [{ previous: null, origin: "prompt", ...prompt }];
      const sampled: number[] = [];
      const chat = [...opening];
      first = number === 0;
      const turns = number === 0 ? 3 : 1 + draws.below(number % 10 === 9 ? 24 : 5);
      for (let turn = 0; turn < turns; turn++) {
        const tokens = sampledAction(draws, tokenizer);
        sampled.push(...tokens);
        segments.push({
          previous: null,
          origin: "action",
          text: tokenizer.decode(tokens),
          tokens,
          logprobs: tokens.map(() => -1),
        });
        if (turn === turns - 1) break;
        const limit = { tokens: 32 + draws.below(64), cut: ways[draws.below(3)] ?? "end" };
        const observed = observation(draws, said).map((one) => {
          if (draws.below(2) === 0) return one;
          const { text, cut } = framing.cutText(one.content, limit);
          if (cut > 0) expect(text).toContain(`[${cut} tokens cut]`);
          return { ...one, content: text };
        });
        const framed = framing.frameObservation(observed);
        expect(controlIn(framed.tokens), `${name} ${number} ${turn}`).toEqual(
          controlIn(framing.frameObservation(harmless(observed)).tokens),
        );
        expectKept(tokenizer, framed.tokens, texts(observed));
        segments.push({ previous: null, origin: "observation", ...framed });
        chat.push({ role: "assistant", content: `action ${turn}` }, ...observed);
      }
      const actions = segments.filter(({ origin }) => origin === "action");
      const row = trainingTrajectory({ id: "t", group: "g", reward: 0 }, { rows: [segments], actions }, 1);
      expect(row.tokens).toEqual(segments.flatMap(({ tokens }) => tokens));
      expect(row.tokens.filter((_, at) => row.mask[at] === 1)).toEqual(sampled);
      expect(row.mask).toEqual(
        segments.flatMap(({ origin, tokens }) => tokens.map(() => (origin === "action" ? 1 : 0))),
      );
      if (keeps) expectWhole(tokenizer, chat, tool, `${name} ${number}`);
    }
  },
  3_600_000,
);

/** What tools answer, or what a user says, after an action. */
function observation(draws: Draws, said: () => string): Message[] {
  if (draws.below(4) === 0) return [{ role: "user", content: `!${said()}` }];
  const count = 1 + (draws.below(4) === 0 ? draws.below(3) : 0);
  return Array.from({ length: count }, () => ({ role: "tool", name: "look", content: said() }));
}

/** Any ids of the vocabulary, and one that ends an action, or none where it was cut. */
function sampledAction(draws: Draws, tokenizer: Tokenizer): number[] {
  const tokens = Array.from({ length: draws.below(12) }, () => draws.below(tokenizer.vocabularySize));
  return draws.below(5) === 0 ? [...tokens, 0] : [...tokens, tokenizer.endOfTurn.id];
}

/** Each text stands in the tokens' text, as it is or as JSON writes it. A template may trim it. */
function expectKept(tokenizer: Tokenizer, tokens: readonly number[], contents: readonly string[]): void {
  const decoded = without(tokenizer.decode(tokens)).normalize();
  for (const content of contents) {
    const text = content.toWellFormed();
    const forms = [text, JSON.stringify(text).slice(1, -1), text.replaceAll("\ufeff", "")];
    const found = forms.some((form) => decoded.includes(without(form).normalize()));
    expect(
      found,
      `${JSON.stringify(content.slice(0, 300))} in ${JSON.stringify(decoded.slice(0, 600))}`,
    ).toBe(true);
  }
}

/** Prompt, actions and observations put together are the template's whole rendering, token for token. */
function expectWhole(tokenizer: Tokenizer, chat: Message[], tool: ToolDefinition, label: string): void {
  const { framePrompt, frameObservation, frameDemonstration } = createFraming(tokenizer);
  const last = chat.findLastIndex(({ role }) => role === "assistant");
  if (last < 0) return;
  const { tokens } = frameDemonstration(chat.slice(0, last + 1), [tool]);
  const ended = frameObservation(chat.slice(last + 1)).tokens;
  const isWritten = chat.every(({ role }) => role !== "tool") || !tokenizer.chatTemplate.includes("<|end|>");
  if (isWritten) expect(framePrompt(chat, [tool]).tokens, label).toEqual([...tokens, ...ended]);
}
