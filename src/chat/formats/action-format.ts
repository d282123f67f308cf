import { defined } from "../../base/records/defined.ts";
import type { FormatName } from "../../contracts/format-name.ts";
import type { ToolCall, ToolDefinition } from "../../contracts/message.ts";
import type { ParsedAction, ReadAction, SpokenAction } from "../../contracts/parsed-action.ts";
import { type Marks, scan, think, withBlocks } from "./scan.ts";

/** Context, apart from its text, that an action is parsed in. */
export interface ParseOptions {
  /** The callable tools. Their schemas type arguments where the format itself does not. */
  tools?: readonly ToolDefinition[];
  /** Calls of the trajectory before this action, which number the ids of formats without ids. Default 0. */
  callsBefore?: number;
}

/** Presents an action as text to a client that takes none of its calls, or only the readable ones. */
export interface ActionText {
  /**
   * The text of an action that calls nothing. Anything written as a call stays part of its answer, character for
   * character.
   */
  asText(text: string): SpokenAction;
  /**
   * The text of an action without its readable calls. Unreadable ones stay in place, character for character. Absent
   * if the format can't locate calls.
   */
  besideCalls?(text: string, tools: readonly ToolDefinition[]): string;
}

/** A notation of actions: where a model's thoughts, calls and answers are. */
export interface ActionFormat extends ActionText {
  /** An example call, for a model that wrote its call differently. */
  readonly example: string;
  /** Texts that end an action, in addition to the token that ends a turn. */
  stopTexts(tools: readonly ToolDefinition[]): string[];
  /** Never throws: an unreadable call is returned with its problem. Takes time linear in the text. */
  parse(text: string, options?: ParseOptions): ParsedAction;
}

/** A format of existing models. */
export interface ModelFormat extends ActionFormat {
  readonly name: FormatName;
  /** The models that write this format. */
  readonly models: string;
  /** Writes calls the way those models do. */
  render(calls: readonly ToolCall[], tools?: readonly ToolDefinition[]): string;
}

/** The part of a format that its own file defines. */
export interface FormatDefinition {
  name: FormatName;
  models: string;
  example: string;
  /** The marks around calls. A thought's mark inside of them is text. Default: none. */
  marks?: readonly Marks[];
  /** Default: `<think>` and `</think>`. */
  thoughts?: readonly Marks[];
  stopTexts?: (tools: readonly ToolDefinition[]) => string[];
  /** Default: the answer is everything but the thoughts. */
  asText?(text: string): SpokenAction;
  besideCalls?(text: string, tools: readonly ToolDefinition[]): string;
  read(text: string, tools: readonly ToolDefinition[]): ReadAction;
  render(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): string;
}

/** Creates a format from its definition. */
export function modelFormat(definition: FormatDefinition): ModelFormat {
  const { name, models, example, marks, thoughts, stopTexts = () => [] } = definition;
  const { besideCalls, read, render } = definition;
  const { asText = (text) => textOf(text, marks, thoughts) } = definition;
  return defined({
    name,
    models,
    example,
    stopTexts,
    asText,
    besideCalls,
    parse: (text, { tools = [], callsBefore } = {}) => identified(read(text, tools), callsBefore),
    render: (calls, tools = []) => render(calls, tools),
  });
}

/** Gives every call that a format read an id of its own. */
export function identified({ reasoning, answer, calls }: ReadAction, callsBefore = 0): ParsedAction {
  const taken = new Set<string>();
  const named = calls.map((call, index) => {
    const own = "name" in call ? call.id : undefined;
    const id = own === undefined || taken.has(own) ? madeId(callsBefore + index) : own;
    taken.add(id);
    return { ...call, id };
  });
  return { reasoning: reasoning.trim(), answer: answer.trim(), calls: named };
}

/** A text without its thoughts. White space between the thoughts and the answer is not part of the answer. */
export function textOf(
  text: string,
  marks: readonly Marks[] = [],
  thoughts: readonly Marks[] = think,
): SpokenAction {
  const { reasoning, rest, blocks } = scan(text, marks, { thoughts });
  const answer = withBlocks(rest, blocks);
  return { reasoning: reasoning.trim(), answer: reasoning === "" ? answer : answer.trimStart() };
}

/** Nine letters and digits, which Mistral's templates require. Other models accept any id. */
function madeId(number: number): string {
  return `call${String(number % 100_000).padStart(5, "0")}`;
}
