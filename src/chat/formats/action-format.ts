import { defined } from "../../base/records/defined.ts";
import type { FormatName } from "../../contracts/format-name.ts";
import type { ToolCall, ToolDefinition } from "../../contracts/message.ts";
import type { ParsedAction, ReadAction, SpokenAction } from "../../contracts/parsed-action.ts";
import { type Marks, scan, think, withBlocks } from "./scan.ts";

/** What beside its text says what an action means. */
export interface ParseOptions {
  /** The tools that may be called: of what type an argument is where the format does not say it. */
  tools?: readonly ToolDefinition[];
  /** Calls of the trajectory before this action: ids that the format does not have are numbered. Default 0. */
  callsBefore?: number;
}

/** How an action is told as text to a client that takes none of its calls, or only those that can be read. */
export interface ActionText {
  /** The text of an action that calls nothing: whatever it writes as a call stays part of its answer, character for character. */
  asText(text: string): SpokenAction;
  /**
   * What an action says beside the calls that can be read: the others stay where they are, character for character. Absent if the format
   * cannot tell where a call stands.
   */
  besideCalls?(text: string, tools: readonly ToolDefinition[]): string;
}

/** How actions are written: where a model's thoughts, its calls and its answers are. */
export interface ActionFormat extends ActionText {
  /** How a call is written, as a model is told that wrote another. */
  readonly example: string;
  /** Texts that end an action, beside the token that ends a turn. */
  stopTexts(tools: readonly ToolDefinition[]): string[];
  /** Never throws: what can't be read is a call with a problem. Takes time in proportion to the text. */
  parse(text: string, options?: ParseOptions): ParsedAction;
}

/** A format of models that there are. */
export interface ModelFormat extends ActionFormat {
  readonly name: FormatName;
  /** The models that write it. */
  readonly models: string;
  /** Writes calls as those models do. */
  render(calls: readonly ToolCall[], tools?: readonly ToolDefinition[]): string;
}

/** What a format's own file says of it. */
export interface FormatDefinition {
  name: FormatName;
  models: string;
  example: string;
  /** What calls stand between: a mark of a thought inside of them is text. Default: nothing. */
  marks?: readonly Marks[];
  /** Default: `<think>` and `</think>`. */
  thoughts?: readonly Marks[];
  stopTexts?: (tools: readonly ToolDefinition[]) => string[];
  /** Default: all but the thoughts is the answer. */
  asText?(text: string): SpokenAction;
  besideCalls?(text: string, tools: readonly ToolDefinition[]): string;
  read(text: string, tools: readonly ToolDefinition[]): ReadAction;
  render(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): string;
}

/** The format that a definition makes. */
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

/** What a format read, every call with an id of its own. */
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

/** A text without its thoughts. Space that only sets them apart from the answer is no part of it. */
export function textOf(
  text: string,
  marks: readonly Marks[] = [],
  thoughts: readonly Marks[] = think,
): SpokenAction {
  const { reasoning, rest, blocks } = scan(text, marks, { thoughts });
  const answer = withBlocks(rest, blocks);
  return { reasoning: reasoning.trim(), answer: reasoning === "" ? answer : answer.trimStart() };
}

/** Nine letters and digits, as Mistral's templates want them; other models take any. */
function madeId(number: number): string {
  return `call${String(number % 100_000).padStart(5, "0")}`;
}
