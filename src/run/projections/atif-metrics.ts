import { defined } from "../../base/records/defined.ts";
import type { AtifMetrics } from "../../contracts/generated/atif.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { SegmentRef } from "../../contracts/trajectory.ts";
import { segmentRef } from "./segment-ref.ts";

/** A trajectory's segments by their names. */
export type NamedSegments = ReadonlyMap<SegmentRef, Segment>;

/** Names the segments of all rows of a trajectory. */
export function namedSegments(segments: readonly Segment[]): NamedSegments {
  return new Map([...new Set(segments)].map((segment) => [segmentRef(segment), segment]));
}

/** The segments from the beginning of a row to the one with this name. Empty if it is unknown. */
export function segmentsTo(known: NamedSegments, ref: SegmentRef | undefined): Segment[] {
  const chain: Segment[] = [];
  for (let at = known.get(ref ?? ""); at !== undefined; at = known.get(at.previous ?? "")) chain.push(at);
  return chain.reverse();
}

/**
 * The metrics of an action in ATIF: the tokens that the policy read and wrote, with its log-probabilities at
 * temperature 1. `extra` contains the fields of the segment that ATIF lacks.
 */
export function atifMetrics(segments: readonly Segment[]): AtifMetrics | undefined {
  const action = segments.at(-1);
  if (action === undefined) return undefined;
  const context = segments.slice(0, -1).flatMap((segment) => segment.tokens);
  const { tokens, logprobs, policyVersion, temperedLogprobs, samplingLogprobs, routerTies } = action;
  return defined({
    prompt_tokens: context.length,
    completion_tokens: tokens.length,
    prompt_token_ids: context,
    completion_token_ids: tokens,
    logprobs,
    extra: defined<JsonObject>({
      policy_version: policyVersion,
      tempered_logprobs: temperedLogprobs,
      sampling_logprobs: samplingLogprobs,
      router_ties: routerTies,
    }),
  });
}
