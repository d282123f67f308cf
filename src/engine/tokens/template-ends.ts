import { EverturnError } from "../../base/errors/everturn-error.ts";
import { compileChatTemplate, type ShownMessage } from "./chat-template.ts";
import type { ControlTokens } from "./follow-up.ts";
import { shownFollowUp } from "./follow-up-shown.ts";

/** The control token that a chat template ends an action with which calls no tool, and one that calls some; undefined where it can't write such a chat. */
export function templateEnds(
  template: string,
  specialTokens: Readonly<Record<string, string>>,
  control: ControlTokens,
): { text?: string; calls?: string } {
  const endBefore = (message: ShownMessage, ends: readonly string[]) => {
    try {
      const render = compileChatTemplate(template, specialTokens);
      return shownFollowUp({ render, again: render }, { ...control, ends }, [message])?.end;
    } catch (error) {
      if (error instanceof EverturnError) return undefined; // framing says so when it is asked for turns
      throw error;
    }
  };
  const text = endBefore({ role: "user", content: "?" }, control.ends);
  const known = text === undefined ? control.ends : [...control.ends, text];
  const calls = endBefore({ role: "tool", name: "tool", content: "?" }, known);
  return { ...(text !== undefined && { text }), ...(calls !== undefined && { calls }) };
}
