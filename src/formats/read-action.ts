import type { JsonObject } from "../contracts/json.ts";

/** A call as a format reads it. */
export type ReadCall =
  | { id?: string; name: string; arguments: JsonObject }
  | { text: string; problem: string };

/** What a format reads in an action's text. */
export interface ReadAction {
  reasoning: string;
  answer: string;
  calls: ReadCall[];
}

/** A call that can't be read: what was written, what is wrong with it, and how it should have been. */
export function unreadable(text: string, wrong: string, example: string): ReadCall {
  return { text, problem: `error: ${wrong}. Write ${example}` };
}
