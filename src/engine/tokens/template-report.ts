import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { FormatName } from "../../contracts/format-name.ts";
import { byteTokenizer } from "./byte-tokenizer.ts";
import { type ChatTemplate, compileChatTemplate, type ShownMessage } from "./chat-template.ts";
import { type ConversationRows, conversationRows } from "./conversation-rows.ts";
import { type ShownFollowUp, shownFollowUp } from "./follow-up-shown.ts";
import { createFraming } from "./framing.ts";
import { guessedControl } from "./guessed-control.ts";
import { probeConversations, probeTools } from "./probe-conversations.ts";
import { showsTools } from "./shows-tools.ts";
import { templateFormat } from "./template-format.ts";
import { templateVariables } from "./template-variables.ts";
import type { Tokenizer } from "./tokenizer.ts";
import type { ToolStyle } from "./ways-of-calling.ts";

/** The abilities of a chat template. */
export interface TemplateReport {
  /** Whether trajectories with tools can be framed with it. */
  usable: boolean;
  /** Whether pieces joined turn by turn equal the template's own rendering, token by token. */
  exact: boolean;
  /** The most sequences for one of the test conversations. It is one if the template never rewrites earlier text. */
  rows: number;
  /** Whether its prompts show the tools that may be called. */
  tools: boolean;
  /** The action format in which it writes calls, if known. */
  format?: FormatName;
  /** The styles in which it accepts calls, one per turn and several. */
  calling: { one?: ToolStyle; several?: ToolStyle };
  /** The tokens that end an action without and with calls. */
  ends: { text: string; calls: string };
  /**
   * The variables that it reads in addition to messages and tools, and that are not set. A policy's `templateVariables`
   * sets them.
   */
  variables: string[];
  /** Why it is not usable or not exact, and other facts worth knowing. */
  reasons: string[];
  /** The conversations in the pieces of a trajectory: a prompt, then alternating actions and observations. */
  conversations: ConversationRows[];
}

/**
 * Tests a tokenizer's chat template with conversations that call tools. Throws errors that are not the template's
 * fault.
 */
export function templateReport(tokenizer: Tokenizer): TemplateReport {
  const ends = { text: tokenizer.endOfTurn.text, calls: tokenizer.endOfCalls.text };
  const variables = unlessRefused(() => templateVariables(tokenizer.chatTemplate)) ?? [];
  const refused = {
    usable: false,
    exact: false,
    rows: 0,
    tools: false,
    calling: {},
    ends,
    variables,
    conversations: [],
  };
  try {
    const render = compileChatTemplate(tokenizer.chatTemplate, tokenizer.specialTokens);
    const [one, several] = [callsShown(render, tokenizer, 1), severalShown(render, tokenizer)];
    if (one === undefined)
      return {
        ...refused,
        reasons: ["it doesn't write what a tool answered after an action that ends with a control token"],
      };
    const framing = createFraming(tokenizer);
    const system = takesSystem(render);
    const way = (calls: number) => (calls === 1 ? one : several)?.calling ?? "user";
    const conversations = probeConversations(way, system).map((messages) =>
      conversationRows(render, tokenizer, framing, messages, probeTools),
    );
    const rows = Math.max(...conversations.map((conversation) => conversation.rows));
    const differences = conversations.flatMap((conversation) => conversation.differences);
    const format = templateFormat(tokenizer);
    return defined({
      usable: true,
      exact: differences.length === 0,
      rows,
      tools: unlessRefused(() => showsTools((tools) => render([question], tools, true), probeTools)) ?? false,
      ends,
      variables,
      conversations,
      format,
      calling: defined({
        one: one.calling,
        several: several?.calling ? several.calling : undefined,
      }),
      reasons: [
        ...(system ? [] : ["it refuses a system message"]),
        ...notes[way(1)],
        ...rewritten(rows, one),
        ...differences,
      ],
    });
  } catch (error) {
    if (!(error instanceof EverturnError)) throw error;
    return { ...refused, reasons: [error.message] };
  }
}

/** Tests a template without its vocabulary. Texts that look like control tokens count as such. */
export function bareTemplateReport(template: string): TemplateReport {
  const control = ["<bos_token>", ...guessedControl(template), "<eos_token>"];
  const report = templateReport(byteTokenizer(control, template));
  return {
    ...report,
    reasons: [...report.reasons, "its control tokens are guessed; a model folder defines them"],
  };
}

const question: ShownMessage = { role: "user", content: "?" };

const notes: Record<ToolStyle, string[]> = {
  calls: [],
  "written-calls": ["it wants the arguments of calls as text"],
  text: ["it doesn't write calls: they are part of an action's text"],
  user: ["it knows no messages of tools: what they answer is a message of the user"],
};

function rewritten(rows: number, { rewritesEnd }: ShownFollowUp): string[] {
  if (rows > 1)
    return ["it writes earlier messages differently later on; a trajectory keeps them as they were"];
  return rewritesEnd
    ? ["it writes an action's end differently later on; a trajectory keeps it as it was"]
    : [];
}

function callsShown(render: ChatTemplate, { control }: Tokenizer, calls: number): ShownFollowUp | undefined {
  const answers = Array.from(
    { length: calls },
    (_, at): ShownMessage => ({ role: "tool", name: "search", content: `found ${at}` }),
  );
  return shownFollowUp({ render, again: render }, control, answers);
}

function severalShown(render: ChatTemplate, tokenizer: Tokenizer): ShownFollowUp | undefined {
  return unlessRefused(() => callsShown(render, tokenizer, 2));
}

function takesSystem(render: ChatTemplate): boolean {
  const chat = [{ role: "system", content: "a" } as const, { role: "user", content: "b" } as const];
  return unlessRefused(() => render(chat, probeTools, true)) !== undefined;
}

function unlessRefused<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof EverturnError) return undefined;
    throw error;
  }
}
