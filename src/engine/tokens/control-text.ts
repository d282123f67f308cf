import type { JsonValue } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ShownMessage } from "./chat-template.ts";

/** A part of a text, from `start` up to `end`. */
export interface Span {
  start: number;
  end: number;
}

/** Messages and tools in which control tokens that somebody wrote, such as <|im_end|>, can't be taken for the template's own. */
export interface HiddenControl {
  messages: ShownMessage[];
  tools: ToolDefinition[];
  /** A text that was rendered from them, as it was meant, and where a control token in it is only text. */
  shown(rendered: string): { text: string; written: Span[] };
}

/**
 * Hides control tokens in what users, tools and tools' definitions say behind characters that occur nowhere in it. What
 * an assistant says stays as it is: actions of demonstrations may hold them. Halves of characters become U+FFFD.
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
      message.role === "assistant" ? message : { ...message, content: hide(message.content) },
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

const expressions = new WeakMap<readonly string[], RegExp>();

/** Finds any of the tokens, the longest that begins at a place. The same list has the same expression. */
export function anyOf(tokens: readonly string[]): RegExp {
  const known = expressions.get(tokens);
  if (known !== undefined) return known;
  const longestFirst = tokens.filter((token) => token !== "").sort((a, b) => b.length - a.length);
  const expression = new RegExp(longestFirst.map(escaped).join("|") || "(?!)", "g");
  expressions.set(tokens, expression);
  return expression;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function hiddenIn(value: JsonValue, hide: (text: string) => string): JsonValue {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => hiddenIn(item, hide));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hide(key), hiddenIn(item, hide)]));
}

/** A character for private use that is not in `text`. */
function unused(text: string): string {
  for (let code = 0xf0000; ; code++) {
    const character = String.fromCodePoint(code);
    if (!text.includes(character)) return character;
  }
}
