import { isEverturnError } from "../../base/errors/everturn-error.ts";
import type { MessageImage, ToolDefinition } from "../../contracts/message.ts";

/** Renders a chat. */
type Render = (messages: readonly object[], tools: readonly ToolDefinition[], generate: boolean) => string;

/** A part of a message's content, as templates of vision-language models read it. */
type ContentPart = { type: "text"; text: string } | { type: "image" };

/**
 * Gives a template the content of messages with images in parts. A template that writes nothing of a content that is
 * text, such as SmolVLM's, gets every content in parts.
 */
export function withContentParts(render: Render): Render {
  let isPartwise: boolean | undefined;
  return (messages, tools, generate) => {
    isPartwise ??= readsOnlyParts(render);
    const needsParts = isPartwise;
    return render(
      messages.map((message) => inParts(message, needsParts)),
      tools,
      generate,
    );
  };
}

const probe = "EVERTURN_PROBE";

function readsOnlyParts(render: Render): boolean {
  const isWritten = (content: unknown) => {
    try {
      return render([{ role: "user", content }], [], false).includes(probe);
    } catch (error) {
      if (isEverturnError(error)) return false; // its messages report the problem
      throw error;
    }
  };
  return !isWritten(probe) && isWritten([{ type: "text", text: probe }]);
}

function inParts(message: object, needsParts: boolean): object {
  const { content, images = [], ...rest }: { content?: unknown; images?: readonly MessageImage[] } = message;
  if (typeof content !== "string" || (images.length === 0 && !needsParts)) return message;
  return { ...rest, content: partsOf(content, images) };
}

function partsOf(content: string, images: readonly MessageImage[]): ContentPart[] {
  let from = 0;
  const parts = images.flatMap(({ at = content.length }): ContentPart[] => {
    const text = content.slice(from, at);
    from = Math.max(from, at);
    return [...textPart(text), { type: "image" }];
  });
  const all = [...parts, ...textPart(content.slice(from))];
  return all.length === 0 ? [{ type: "text", text: "" }] : all; // some templates look at the first part
}

function textPart(text: string): ContentPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}
