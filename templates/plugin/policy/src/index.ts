import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePolicy, type Message } from "everturn/engine";

const encode = (text: string) => [...Buffer.from(text)];
const textOf = (messages: Message[]) => messages.map(({ role, content }) => `${role}: ${content}\n`).join("");

/** Writes bytes by chance, each as likely as any other: a place to begin. */
export default definePolicy({
  async initialize(folder) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.json"), JSON.stringify({ vocab_size: 256 }));
  },
  async open() {
    const framed = (messages: Message[]) => ({ text: textOf(messages), tokens: encode(textOf(messages)) });
    return {
      framePrompt: framed,
      frameObservation: framed,
      frameDemonstration(messages) {
        const parts = messages.map((message) => ({ message, tokens: encode(textOf([message])) }));
        return {
          tokens: parts.flatMap(({ tokens }) => tokens),
          mask: parts.flatMap(({ message, tokens }) =>
            tokens.map(() => (message.role === "assistant" ? 1 : 0)),
          ),
        };
      },
      isLoaded: () => true,
      load: async () => {},
      async generate({ key, sampling }) {
        const drawn = createHash("sha256").update(JSON.stringify(key)).digest();
        const tokens = [...drawn.subarray(0, Math.min(sampling.maxTokens, 8))];
        const logprobs = tokens.map(() => Math.log(1 / 256));
        const text = Buffer.from(tokens).toString("latin1");
        return {
          tokens,
          logprobs,
          temperedLogprobs: logprobs,
          samplingLogprobs: logprobs,
          text,
          finishReason: "length",
        };
      },
      close: async () => {},
    };
  },
});
