import type { ReadCall } from "../../contracts/parsed-action.ts";

/** An unreadable call: its text, what is wrong with it, and the correct form. */
export function unreadable(text: string, wrong: string, example: string): ReadCall {
  return { text, problem: `error: ${wrong}. Write ${example}` };
}
