import type { JsonObject } from "./json.ts";

/** A call in an action: a valid one, or a description of its problem for the model. */
export type ParsedCall =
  | { id: string; name: string; arguments: JsonObject; problem?: undefined }
  | { id: string; text: string; problem: string };

/** The parsed text of an action. */
export interface ParsedAction {
  /** The model's thoughts, without their marks; "" if there are none. */
  reasoning: string;
  /** The rest of the text, without calls. */
  answer: string;
  /** The calls in their order. `id` is the model's own, or derived from the call's number in the trajectory. */
  calls: ParsedCall[];
}

/** A call as a format reads it: with an id if the model wrote one. */
export type ReadCall =
  | { id?: string; name: string; arguments: JsonObject }
  | { text: string; problem: string };

/** The parts that a format finds in an action's text. */
export interface ReadAction {
  reasoning: string;
  answer: string;
  calls: ReadCall[];
}

/** An action as text alone: the model's thoughts, and the rest of its text, including calls. */
export interface SpokenAction {
  reasoning: string;
  answer: string;
}
