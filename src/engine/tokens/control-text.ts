import type { JsonValue } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ShownMessage } from "./chat-template.ts";

/** A part of a text, from `start` up to but not including `end`. */
export interface Span {
  start: number;
  end: number;
}

/** Messages and tools in which control tokens that somebody wrote, such as <|im_end|>, are hidden from the template. */
export interface HiddenControl {
  messages: ShownMessage[];
  tools: ToolDefinition[];
  /** Restores a text rendered from them, with the spans in which control tokens are plain text. */
  shown(rendered: string): { text: string; written: Span[] };
}

/**
 * Hides control tokens in messages of users and tools and in tool definitions, by characters that occur nowhere else.
 * Assistants' messages stay unchanged, because actions of demonstrations may contain such tokens. Lone surrogates
 * become U+FFFD.
 */
export function hideControl(
  control: readonly string[],
): (messages: readonly ShownMessage[], tools: readonly ToolDefinition[]) => HiddenControl {
  const known = anyOf(control);
  return (messages, tools) => {
    const everything = JSON.stringify([messages, tools]);
    const mark = unused(everything);
    const found: string[] = [];
    const hide = (text: string) =>
      text.toWellFormed().replaceAll(known, (token) => `${mark}${found.push(token) - 1}${mark}`);
    const hiddenMessages = messages.map((message) =>
      message.role === "assistant" ? message : hiddenMessage(message, hide),
    );
    const hiddenTools = tools.map((tool) => ({
      ...tool,
      name: hide(tool.name),
      description: hide(tool.description),
      parameters: Object.fromEntries(
        Object.entries(tool.parameters).map(([key, value]) => [hide(key), hiddenIn(value, hide)]),
      ),
    }));
    const marked = new RegExp(`${mark}(\\d+)${mark}`, "g");
    const shown = (rendered: string) => {
      const written: Span[] = [];
      let text = "";
      let from = 0;
      for (const match of rendered.matchAll(marked)) {
        text += rendered.slice(from, match.index);
        const token = found[Number(match[1])] ?? "";
        written.push({ start: text.length, end: text.length + token.length });
        text += token;
        from = match.index + match[0].length;
      }
      return { text: text + rendered.slice(from), written };
    };
    return { messages: hiddenMessages, tools: hiddenTools, shown };
  };
}

/** Hides control tokens in a message's content, and moves its images along with the text. */
function hiddenMessage(message: ShownMessage, hide: (text: string) => string): ShownMessage {
  const { content, images } = message;
  if (images === undefined) return { ...message, content: hide(content) };
  let hidden = "";
  let from = 0;
  const moved = images.map((image) => {
    const at = Math.max(from, image.at ?? content.length);
    hidden += hide(content.slice(from, at));
    from = at;
    return { ...image, at: hidden.length };
  });
  return { ...message, content: hidden + hide(content.slice(from)), images: moved };
}

const expressions = new WeakMap<readonly string[], RegExp>();

/**
 * Returns an expression that finds any of the tokens, at each place the longest. The same list returns the same
 * expression.
 */
export function anyOf(tokens: readonly string[]): RegExp {
  const known = expressions.get(tokens);
  if (known !== undefined) return known;
  const longestFirst = tokens.filter((token) => token !== "").sort((a, b) => b.length - a.length);
  const expression = new RegExp(longestFirst.map(escaped).join("|") || "(?!)", "g");
  expressions.set(tokens, expression);
  return expression;
}

/** Escapes the characters of a text that have a meaning in regular expressions. */
export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function hiddenIn(value: JsonValue, hide: (text: string) => string): JsonValue {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => hiddenIn(item, hide));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hiddenIn(item, hide)]));
}

/** Returns a private-use character that is not in `text`. */
function unused(text: string): string {
  for (let code = 0xf0000; ; code++) {
    const character = String.fromCodePoint(code);
    if (!text.includes(character)) return character;
  }
}
