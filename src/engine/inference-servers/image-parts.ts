import type { MessageImage } from "../../contracts/message.ts";
import type { TextMessage } from "./conversation-tokens.ts";

type Part = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** A message for an endpoint. A message with images has its content in parts. */
type SentMessage = Omit<TextMessage, "content" | "images"> & { content: string | Part[] };

/**
 * Converts messages for an endpoint. `urls` are the images. Images of a prompt keep their place in its text. Tool
 * messages are plain text in OpenAI's protocol, so their images follow in a user message after each series of tool
 * messages.
 */
export function withParts(
  messages: readonly TextMessage[],
  urls: ReadonlyMap<string, string>,
): SentMessage[] {
  const sent: SentMessage[] = [];
  let ofTools: Part[] = [];
  for (const { images = [], ...message } of messages) {
    if (message.role !== "tool" && ofTools.length > 0) {
      sent.push({ role: "user", content: ofTools });
      ofTools = [];
    }
    if (message.role === "tool") {
      ofTools.push(...partsOf("", images, urls));
      sent.push(message);
    } else if (images.length === 0) sent.push(message);
    else sent.push({ ...message, content: partsOf(message.content, images, urls) });
  }
  return ofTools.length === 0 ? sent : [...sent, { role: "user", content: ofTools }];
}

function partsOf(
  content: string,
  images: readonly MessageImage[],
  urls: ReadonlyMap<string, string>,
): Part[] {
  let from = 0;
  const parts = images.flatMap(({ sha256, at = content.length }): Part[] => {
    const text = content.slice(from, at);
    from = at;
    const url = urls.get(sha256);
    return [
      ...textOf(text),
      ...(url === undefined ? [] : [{ type: "image_url" as const, image_url: { url } }]),
    ];
  });
  return [...parts, ...textOf(content.slice(from))];
}

function textOf(text: string): Part[] {
  return text === "" ? [] : [{ type: "text", text }];
}
