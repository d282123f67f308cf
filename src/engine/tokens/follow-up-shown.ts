import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ShownMessage } from "./chat-template.ts";
import { type ControlTokens, type FollowUp, followUp, type ShownTemplate } from "./follow-up.ts";
import { shownCalls, shownText, type ToolStyle, waysOfCalling } from "./ways-of-calling.ts";

/**
 * The text that a template writes after an action when `messages` follow, and the style of tool calls that it needed.
 */
export interface ShownFollowUp extends FollowUp {
  calling?: ToolStyle;
}

/**
 * Returns the text that a chat template writes after an action when `messages` follow. Tries the styles of tool calls
 * in order, until one writes all messages. `earlier` is the number of previous calls. Returns undefined if no style
 * works. If the template rejects every style, throws its first error.
 */
export function shownFollowUp(
  template: ShownTemplate,
  control: ControlTokens,
  messages: readonly ShownMessage[],
  earlier = 0,
): ShownFollowUp | undefined {
  if (messages[0]?.role !== "tool")
    return firstFound(shownText(messages), ({ chat, next, tools }) =>
      followUp(template, control, chat, next, tools),
    );
  const inWay = (shown: readonly ShownMessage[], calling: ToolStyle, by: ShownTemplate) => {
    const { chat, next, tools } = shownCalls(shown, calling, earlier);
    return followUp(by, control, chat, next, tools);
  };
  const remembering = { render: template.again, again: template.again };
  /** Messages whose contents can be found in any text. A tool's answer may be empty or a part of a header. */
  const marked = messages.map(({ images: _, ...message }, at) => ({
    ...message,
    content: `EVERTURN_MESSAGE_${at}`,
  }));
  return firstFound(waysOfCalling, (calling) => {
    const text = inWay(marked, calling, remembering)?.text;
    const isWhole = text !== undefined && inOrder(text, marked);
    const found = isWhole ? inWay(messages, calling, template) : undefined;
    return found && { ...found, calling };
  });
}

/** Returns the first result for `choices`, skipping those that throw. Without a result, throws the first error. */
function firstFound<Choice, Found>(
  choices: readonly Choice[],
  find: (choice: Choice) => Found | undefined,
): Found | undefined {
  let refusal: unknown;
  for (const choice of choices) {
    try {
      const found = find(choice);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof EverturnError)) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  return undefined;
}

/** Whether `text` contains the messages one after another. */
function inOrder(text: string, messages: readonly ShownMessage[]): boolean {
  let from = 0;
  return messages.every(({ content }) => {
    const at = text.indexOf(content, from);
    from = at + content.length;
    return at >= 0;
  });
}
