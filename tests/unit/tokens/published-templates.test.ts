import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Message } from "../../../src/contracts/message.ts";
import { compileChatTemplate } from "../../../src/tokens/chat-template.ts";
import { createFraming } from "../../../src/tokens/framing.ts";
import { fetchLlamaCpp } from "../../support/llama-cpp.ts";
import { publishedTokenizer } from "../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const work = temporaryFolder();
beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

const chat: Message[] = [
  { role: "user", content: "What is 2 + 2?" },
  { role: "assistant", content: "4, I think." },
  { role: "user", content: "  And 3 + 3?" },
  { role: "assistant", content: "6" },
];

// Zephyr's and Llama 2's ways, with SentencePiece's vocabulary
test.each([
  "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{{ eos_token }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
  "{% for m in messages %}{% if m.role == 'user' %}{{ bos_token }}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }} {{ eos_token }}{% endif %}{% endfor %}",
])("a demonstration of SentencePiece's tokens is that of the whole chat: %s", async (template) => {
  const folder = join(work, `spm-${template.length}`);
  const tokenizer = await publishedTokenizer("llama-spm", folder, (metadata) => {
    metadata.set("tokenizer.chat_template", template);
  });
  const { tokens, mask } = createFraming(tokenizer).frameDemonstration(chat, []);
  const whole = tokenizer.encode(compileChatTemplate(template, tokenizer.specialTokens)(chat, [], false));
  expect(tokens).toEqual(whole.slice(0, whole.lastIndexOf(tokenizer.endOfTurn.id) + 1));
  const written = tokenizer.decode(tokens.filter((_, at) => mask[at] === 1));
  expect(written.replaceAll(/\s/g, "")).toBe("4,Ithink.</s>6</s>");
});
