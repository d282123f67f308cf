import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";

/** The result of the activity that generated a turn. */
export function turnResult({
  appended: _,
  callsBefore: __,
  request: ___,
  action,
  ...rest
}: RecordedTurn): GenerateTurnResult {
  return { ...rest, action: action.text, policyVersion: action.policyVersion ?? 0 };
}
