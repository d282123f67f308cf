import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { PlacedImage } from "../../contracts/image-tokens.ts";
import type { MessageImage } from "../../contracts/message.ts";
import type { HiddenControl, Span } from "./control-text.ts";

/** How a vision-language model writes images as tokens. */
export interface ImageFraming {
  /** The text with which the chat template writes an image, and its id. */
  token: { text: string; id: number };
  /** The text that replaces it for an image of this size, and the number of image tokens in that text. */
  expansion(image: MessageImage): { text: string; tokens: number };
}

/** A rendered text with the images that it shows. */
export interface RenderedText {
  /** As the chat template writes it, for the reader. */
  text: string;
  /** With the expansions of its images. Its control tokens in `written` are plain text. */
  expanded: { text: string; written: Span[] };
  images: { sha256: string; tokens: number }[];
}

/**
 * Restores the control tokens of a rendered text, and expands the images that it shows, one for each image token of the
 * template. Throws IMAGES_NOT_FRAMED if the template writes more or fewer images than the messages have.
 */
export function renderedText(
  rendered: string,
  hidden: HiddenControl,
  framing: ImageFraming | undefined,
): RenderedText {
  const shown = hidden.shown(rendered);
  const images = hidden.messages.flatMap((message) => message.images ?? []);
  if (framing === undefined || images.length === 0) return { text: shown.text, expanded: shown, images: [] };
  const pieces = rendered.split(framing.token.text);
  if (pieces.length !== images.length + 1) {
    const reason = `it writes ${pieces.length - 1} images where the messages have ${images.length}`;
    throw new EverturnError("IMAGES_NOT_FRAMED", { reason });
  }
  const expansions = images.map((image) => framing.expansion(image));
  const whole = pieces.map((piece, index) => piece + (expansions[index]?.text ?? "")).join("");
  return {
    text: shown.text,
    expanded: hidden.shown(whole),
    images: images.map(({ sha256 }, index) => ({ sha256, tokens: expansions[index]?.tokens ?? 0 })),
  };
}

/** The places of images among the tokens of their text. Throws IMAGES_NOT_FRAMED if it has fewer image tokens. */
export function placedImages(
  tokens: readonly number[],
  images: RenderedText["images"],
  framing: ImageFraming | undefined,
): PlacedImage[] {
  let next = 0;
  const placed =
    framing === undefined ? [] : [...tokens.keys()].filter((at) => tokens[at] === framing.token.id);
  return images.map(({ sha256, tokens: count }) => {
    const start = placed[next];
    next += count;
    if (start !== undefined && next <= placed.length) return { sha256, start };
    const reason = `image ${sha256} takes ${count} tokens, but the tokenizer makes fewer of its text`;
    throw new EverturnError("IMAGES_NOT_FRAMED", { reason });
  });
}
