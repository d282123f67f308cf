import type { JsonObject } from "./json.ts";

/** A call in an action: one that can be made, or what is wrong with it, said to the model. */
export type ParsedCall =
  | { id: string; name: string; arguments: JsonObject; problem?: undefined }
  | { id: string; text: string; problem: string };

/** What a format makes of the text of an action. */
export interface ParsedAction {
  /** What the model thought, without its marks; "" if it did not. */
  reasoning: string;
  /** What it said beside that, calls aside. */
  answer: string;
  /** In the order in which they stand. `id` is the model's own, or else made of the call's number in the trajectory. */
  calls: ParsedCall[];
}

/** A call as a format reads it: with an id if the model wrote one. */
export type ReadCall =
  | { id?: string; name: string; arguments: JsonObject }
  | { text: string; problem: string };

/** What a format reads in an action's text. */
export interface ReadAction {
  reasoning: string;
  answer: string;
  calls: ReadCall[];
}

/** An action as text alone: what the model thought, and all else it wrote, calls included. */
export interface SpokenAction {
  reasoning: string;
  answer: string;
}
