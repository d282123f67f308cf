import type { ToolDefinition } from "../../contracts/message.ts";
import type { EndpointMessage, ModelAnswer } from "./model-request.ts";

/** A turn of a session that was recorded: what came before it, and what was answered. */
export interface GivenTurn {
  number: number;
  /** The turn that it goes on after; null of the first of a row. */
  parent: number | null;
  /** What was appended before it: of the first of a row the whole prompt. */
  messages: readonly EndpointMessage[];
  /** Of the first of a row: the tools of its prompt, which all of the row have. */
  tools?: readonly ToolDefinition[] | undefined;
  answer: Pick<ModelAnswer, "id" | "text" | "reasoning" | "calls">;
}
