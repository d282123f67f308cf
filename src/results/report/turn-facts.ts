import { counted, duration } from "../../base/text/format.ts";
import type { Detail } from "../../run/projections/trajectory-detail.ts";

/** The version that generated a turn, the turn's length and duration, and whether it was cut, as far as known. */
export function turnFacts({ generated }: Pick<Detail, "generated">, recordedVersion?: number): string {
  const version = recordedVersion ?? generated?.policyVersion;
  return [
    ...(version === undefined ? [] : [`policy version ${version}`]),
    ...(generated === undefined
      ? []
      : [counted(generated.tokens.action, "token"), duration(generated.seconds)]),
    ...(generated?.finishReason === "length" ? ["cut at the token limit"] : []),
  ].join(" · ");
}
