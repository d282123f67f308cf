import { EverturnError } from "../../base/errors/everturn-error.ts";
import { compileChatTemplate } from "./chat-template.ts";

/** How published templates write tokens that are no text. */
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

/** What in a chat template, and in what it renders, looks like a control token. */
export function guessedControl(template: string): string[] {
  const texts = [template, ...rendered(template)];
  return [...new Set(texts.flatMap((text) => text.match(form) ?? []))];
}

/** Some templates put their tokens together. */
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
