import type { ToolDefinition } from "../../contracts/message.ts";
import type { EndpointMessage, ModelAnswer } from "./model-request.ts";

/** A recorded turn of a session: the messages before it, and its answer. */
export interface GivenTurn {
  number: number;
  /** The turn before it; null for the first turn of a row. */
  parent: number | null;
  /** The messages added before it. For the first turn of a row, the whole prompt. */
  messages: readonly EndpointMessage[];
  /** For the first turn of a row: the tools of its prompt, which the whole row shares. */
  tools?: readonly ToolDefinition[] | undefined;
  answer: Pick<ModelAnswer, "id" | "text" | "reasoning" | "calls">;
}
