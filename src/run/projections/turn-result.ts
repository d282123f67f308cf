import type { GenerateTurnResult } from "../../contracts/generate-turn.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";
import type { TokenCounts } from "../../contracts/trajectory.ts";

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

/** The tokens of several turns, by origin. */
export function totalTokens(turns: readonly Pick<GenerateTurnResult, "tokens">[]): TokenCounts {
  const total = (origin: keyof TokenCounts) => turns.reduce((sum, { tokens }) => sum + tokens[origin], 0);
  return { prompt: total("prompt"), action: total("action"), observation: total("observation") };
}
