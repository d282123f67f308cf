import type { Message } from "../contracts/message.ts";
import { compileChatTemplate } from "./chat-template.ts";

/** Stands for an action while the text after it is cut from a rendered chat. */
export const placeholder = "EVERTURN_ACTION";

/** A chat of one turn. */
export const exampleChat: readonly Message[] = [
  { role: "user", content: "" },
  { role: "assistant", content: placeholder },
];

/**
 * Which of `tokens` a chat template ends an assistant's message with, spaces before it aside. Undefined where it ends
 * with none of them, or can't render a chat of one turn: framing says so when it is asked for turns.
 */
export function endOfTurn(
  template: string,
  specialTokens: Readonly<Record<string, string>>,
  tokens: readonly string[],
): string | undefined {
  let text: string;
  try {
    text = compileChatTemplate(template, specialTokens)([...exampleChat], [], false);
  } catch {
    return undefined;
  }
  const [, ...after] = text.split(placeholder);
  const rest = after.join(placeholder).trimStart();
  const found = tokens.filter((token) => rest.startsWith(token));
  return found.sort((a, b) => b.length - a.length)[0];
}
