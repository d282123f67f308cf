import type { FormatName } from "../contracts/format-name.ts";
import type { ToolCall, ToolDefinition } from "../contracts/message.ts";
import type { ParsedAction, ReadAction } from "../contracts/parsed-action.ts";

/** What beside its text says what an action means. */
export interface ParseOptions {
  /** The tools that may be called: of what type an argument is where the format does not say it. */
  tools?: readonly ToolDefinition[];
  /** Calls of the trajectory before this action: ids that the format does not have are numbered. Default 0. */
  callsBefore?: number;
}

/** How actions are written: where a model's thoughts, its calls and its answers are. */
export interface ActionFormat {
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
  stopTexts?: (tools: readonly ToolDefinition[]) => string[];
  read(text: string, tools: readonly ToolDefinition[]): ReadAction;
  render(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): string;
}

/** The format that a definition makes. */
export function modelFormat(definition: FormatDefinition): ModelFormat {
  const { name, models, example, stopTexts = () => [], read, render } = definition;
  return {
    ...{ name, models, example, stopTexts },
    parse: (text, { tools = [], callsBefore } = {}) => identified(read(text, tools), callsBefore),
    render: (calls, tools = []) => render(calls, tools),
  };
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

/** Nine letters and digits, as Mistral's templates want them; other models take any. */
function madeId(number: number): string {
  return `call${String(number % 100_000).padStart(5, "0")}`;
}
