import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { compileTemplate, type Template } from "../../chat/jinja/template.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { Message, ToolDefinition } from "../../contracts/message.ts";
import { withContentParts } from "./content-parts.ts";
import { strftime } from "./strftime.ts";

/** A message for a template. Some templates expect the arguments of calls as an object, others as text. */
export interface ShownMessage extends Omit<Message, "tool_calls"> {
  tool_calls?: {
    type: "function";
    id?: string;
    function: { name: string; arguments: JsonObject | string };
  }[];
}

/** Renders a chat as the model reads it. `generate` adds the text that opens the next action. */
export type ChatTemplate = (
  messages: readonly object[],
  tools: readonly ToolDefinition[],
  generate: boolean,
) => string;

/**
 * Compiles a Hugging Face chat template (Jinja) with `specialTokens` (bos_token, …) as variables. Tools are passed as
 * OpenAI function definitions, like in transformers, and messages with images in parts. Throws CHAT_TEMPLATE_FAILED if
 * the template is invalid or rejects the messages.
 */
export function compileChatTemplate(
  source: string,
  specialTokens: Readonly<Record<string, string>> = {},
): ChatTemplate {
  const template = compiledTemplate(source);
  return withContentParts((messages, tools, generate) =>
    attempt(() =>
      template.render({
        ...specialTokens,
        messages,
        tools: tools.length === 0 ? null : tools.map((tool) => ({ type: "function", function: tool })),
        documents: null,
        add_generation_prompt: generate,
      }),
    ),
  );
}

/** The current time that templates see. It is fixed, so that a chat is always rendered alike. */
const now = new Date("2026-01-01T12:00:00Z");

/** Compiles a Jinja template. Throws CHAT_TEMPLATE_FAILED if it is invalid. */
export function compiledTemplate(source: string): Template {
  return attempt(() => compileTemplate(source, (form) => strftime(now, form)));
}

/** Caches the texts of recently rendered chats, for chats that come back turn after turn. */
export function remembered(render: ChatTemplate): ChatTemplate {
  const texts = new Map<string, string>();
  return (...chat) => {
    const key = JSON.stringify(chat);
    const text = texts.get(key) ?? render(...chat);
    texts.delete(key);
    texts.set(key, text); // the newest is last
    for (const oldest of texts.keys()) {
      if (texts.size <= mostRemembered) break;
      texts.delete(oldest);
    }
    return text;
  };
}

const mostRemembered = 64;

function attempt<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof EverturnError) throw cause;
    const reason = messageOf(cause);
    throw new EverturnError("CHAT_TEMPLATE_FAILED", { reason }, { cause });
  }
}
