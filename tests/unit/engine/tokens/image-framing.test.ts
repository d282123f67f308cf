import { describe, expect, test } from "vitest";
import type { Message, MessageImage } from "../../../../src/contracts/message.ts";
import { imageFraming } from "../../../../src/engine/models/policy/image-text.ts";
import { byteTokenizer } from "../../../../src/engine/tokens/byte-tokenizer.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { imageCases, imageProcessors } from "../../../support/image-cases.ts";

/** The published template of SmolVLM, which writes only contents in parts. */
const smolvlm =
  "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";

/** The part of Qwen2.5-VL's published template that writes texts and images. */
const qwen =
  "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}<|im_start|>{{ message['role'] }}\n{% if message['content'] is string %}{{ message['content'] }}<|im_end|>\n{% else %}{% for content in message['content'] %}{% if content['type'] == 'image' or 'image' in content or 'image_url' in content %}<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

const models = {
  smolvlm: {
    processor: "smolvlm-small",
    template: smolvlm,
    token: "<image>",
    control: ["<|im_start|>", "<fake_token_around_image>", "<global-img>", "<image>", "<end_of_utterance>"],
  },
  qwen: {
    processor: "qwen2.5-vl",
    template: qwen,
    token: "<|image_pad|>",
    control: ["<|im_start|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|im_end|>"],
  },
};

function modelOf({ processor: name, template, token, control }: (typeof models)["smolvlm"]) {
  const processor = imageProcessors.get(name);
  const tokenizer = byteTokenizer(control, template);
  const id = tokenizer.idOf(token);
  if (processor === undefined || id === undefined) throw new Error(`there is no ${name} or ${token}`);
  const images = imageFraming(processor, { text: token, id });
  return { id, tokenizer, images, framing: createFraming(tokenizer, images) };
}

const cat: MessageImage = { sha256: "c".repeat(64), mediaType: "image/png", width: 90, height: 40 };
const dog: MessageImage = { sha256: "d".repeat(64), mediaType: "image/png", width: 30, height: 30 };

describe.each(Object.entries(models))("%s", (_, given) => {
  const { id, tokenizer, images, framing } = modelOf(given);
  const tokensOf = (image: MessageImage) => images.expansion(image).tokens;
  const chat: Message[] = [
    { role: "user", content: "Here:  and <image>", images: [{ ...cat, at: 6 }] },
    { role: "assistant", content: "call" },
    { role: "tool", name: "zoom", content: `[image 2] ${given.token}`, images: [dog] },
    { role: "assistant", content: "A dog." },
  ];

  test("a prompt has an image's tokens where the message has the image", () => {
    const { text, tokens, images: placed } = framing.framePrompt(chat.slice(0, 1), []);
    const count = tokensOf(cat);
    expect(tokens.filter((token) => token === id)).toHaveLength(count);
    expect(placed).toEqual([{ sha256: cat.sha256, start: tokens.indexOf(id) }]);
    expect(tokenizer.decode(tokens.slice(0, tokens.indexOf(id)))).toContain("Here: ");
    expect(tokenizer.decode(tokens.slice(tokens.lastIndexOf(id)))).toContain(" and <image>");
    expect(text).toContain(given.token);
    expect(text.length).toBeLessThan(200);
  });

  test("an observation has the image of its tool, and none where a tool wrote an image token", () => {
    const { tokens, images: placed } = framing.frameObservation(chat.slice(2, 3), 1);
    expect(tokens.filter((token) => token === id)).toHaveLength(tokensOf(dog));
    expect(placed).toEqual([{ sha256: dog.sha256, start: tokens.indexOf(id) }]);
    expect(tokenizer.decode(tokens)).toContain(`[image 2] ${given.token}`);
  });

  test("a demonstration is its prompt, actions and observations, and images carry no loss", () => {
    const { tokens, mask, images: placed } = framing.frameDemonstration(chat, []);
    const prompt = framing.framePrompt(chat.slice(0, 1), []);
    const observation = framing.frameObservation(chat.slice(2, 3), 1);
    const action = mask.lastIndexOf(0) - observation.tokens.length + 1;
    expect(tokens.slice(0, prompt.tokens.length)).toEqual(prompt.tokens);
    expect(tokens.slice(action, action + observation.tokens.length)).toEqual(observation.tokens);
    const [first, second] = [prompt.images?.[0], observation.images?.[0]];
    expect(placed).toEqual([first, { sha256: dog.sha256, start: action + (second?.start ?? 0) }]);
    expect(tokens.some((token, at) => token === id && mask[at] === 1)).toBe(false);
  });

  test("text alone is written as before, and several images keep their order", () => {
    expect(framing.framePrompt([{ role: "user", content: "Hi" }], [])).not.toHaveProperty("images");
    const both = framing.framePrompt([{ role: "user", content: "", images: [dog, cat, dog] }], []);
    expect(both.images?.map(({ sha256 }) => sha256[0])).toEqual(["d", "c", "d"]);
    const at = both.tokens.flatMap((token, index) => (token === id ? [index] : []));
    expect(both.images?.map(({ start }) => at.indexOf(start))).toEqual([
      0,
      tokensOf(dog),
      tokensOf(dog) + tokensOf(cat),
    ]);
  });

  test("an image whose size is unknown, and a template that leaves images out, are refused", () => {
    const { width: _width, ...unknown } = cat;
    const refused = { code: "IMAGES_NOT_FRAMED" };
    const asked: Message = { role: "user", content: "Hi", images: [unknown] };
    expect(() => framing.framePrompt([asked], [])).toThrow(expect.objectContaining(refused));
    const chatTemplate = "{% for m in messages %}{{ m.role }}{% endfor %}";
    const blind = createFraming({ ...tokenizer, chatTemplate }, images);
    expect(() => blind.framePrompt([{ ...asked, images: [cat] }], [])).toThrow(
      "it writes 0 images where the messages have 1",
    );
  });
});

test.each(imageCases.cases)(
  "the text of $image is that of SmolVLM's processor",
  ({ width, height, made }) => {
    for (const [name, processor] of imageProcessors) {
      const { text, imageTokens } = made[name] ?? {};
      const image = { sha256: "", mediaType: "", width, height };
      const found = imageFraming(processor, { text: "<i>", id: 0 }).expansion(image);
      expect(found.tokens).toBe(imageTokens);
      if (text === undefined) continue;
      const short = found.text
        .replaceAll("<fake_token_around_image>", "<f>")
        .replaceAll("<global-img>", "<g>")
        .replaceAll("<i>".repeat(imageCases.imageTokens[name] ?? 0), "*");
      expect(short).toBe(text);
    }
  },
);
