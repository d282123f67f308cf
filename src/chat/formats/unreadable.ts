import type { ReadCall } from "../../contracts/parsed-action.ts";

/** A call that can't be read: what was written, what is wrong with it, and how it should have been. */
export function unreadable(text: string, wrong: string, example: string): ReadCall {
  return { text, problem: `error: ${wrong}. Write ${example}` };
}
