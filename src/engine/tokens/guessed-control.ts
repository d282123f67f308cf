import { EverturnError } from "../../base/errors/everturn-error.ts";
import { compileChatTemplate } from "./chat-template.ts";

/** The forms of control tokens in published templates. */
const forms = [
  "<[|｜][^|｜<>]{1,40}[|｜]>",
  "<\\|\\w+>",
  "<\\w+\\|>",
  '<\\|"\\|>',
  "</?s>",
  "<sep>",
  "</assistant>",
  "\\[/?(?:INST|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|TOOL_CONTENT|SYSTEM_PROMPT|ARGS|CALL_ID|THINK)\\]",
  "<(?:start|end)_of_turn>",
  "<(?:beginning|end)_of_sentence>",
  "</?seed:\\w+>",
  "<SPECIAL_\\d+>",
  "\\[e~\\[",
  "\\]~\\w+\\]",
  "\\]~!b\\[",
];
const form = new RegExp(forms.join("|"), "gu");

/** Returns the texts in a chat template and its rendering that look like control tokens. */
export function guessedControl(template: string): string[] {
  const texts = [template, ...rendered(template)];
  return [...new Set(texts.flatMap((text) => text.match(form) ?? []))];
}

/** Renders a template, because some concatenate their tokens from parts. */
function rendered(template: string): string[] {
  try {
    return [
      compileChatTemplate(template)([question, { role: "assistant", content: "" }, question], [], false),
    ];
  } catch (error) {
    if (error instanceof EverturnError) return [];
    throw error;
  }
}

const question = { role: "user", content: "?" } as const;
