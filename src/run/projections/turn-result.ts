import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";

/** What the activity that generated a turn answers. */
export function turnResult({
  appended: _,
  callsBefore: __,
  request: ___,
  action,
  ...rest
}: RecordedTurn): GenerateTurnResult {
  return { ...rest, action: action.text, policyVersion: action.policyVersion ?? 0 };
}
