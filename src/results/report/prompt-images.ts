import { imagePlaceholder } from "../../chat/images/shown-images.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { Message } from "../../contracts/message.ts";

/** A part of a message: text, or an image by its content. */
export type PromptPart = { text: string } | { sha256: string };

/** A message of a prompt in parts. */
export interface PromptMessage {
  role: string;
  parts: PromptPart[];
}

/**
 * A prompt's messages with the images that the policy saw in them, which `first`, the trajectory's first segment,
 * names. Messages are text alone if the policy saw none of the images.
 */
export function seenPrompt(prompt: readonly Message[], first: Segment | undefined): PromptMessage[] {
  const images = [...(first?.images ?? [])];
  const places = prompt.reduce((sum, { content }) => sum + content.split(imagePlaceholder).length - 1, 0);
  const isShown = images.length > 0 && images.length === places;
  return prompt.map(({ role, content }) => ({
    role,
    parts: isShown ? partsOf(content, images) : [{ text: content }],
  }));
}

/** Takes the message's images from the front of `images`. */
function partsOf(content: string, images: { sha256: string }[]): PromptPart[] {
  const [before = "", ...others] = content.split(imagePlaceholder);
  const seen = images.splice(0, others.length);
  const parts = seen.flatMap(({ sha256 }, index) => [{ sha256 }, { text: (others[index] ?? "").trim() }]);
  return [{ text: before.trim() }, ...parts].filter((part) => !("text" in part) || part.text !== "");
}
