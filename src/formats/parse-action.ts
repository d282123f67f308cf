import type { ParsedAction } from "../contracts/parsed-action.ts";
import type { ParseOptions } from "./action-format.ts";
import { hermes } from "./hermes.ts";

/** What is thought, said and called in the text of an action, as a run without a format of its own reads it: Hermes' JSON. */
export function parseAction(text: string, options?: ParseOptions): ParsedAction {
  return hermes.parse(text, options);
}
