// Generated from schemas/segment.schema.json by scripts/generate-types.ts: change the schema instead.

/**
 * A run of tokens of one origin. Segments are content-addressed; each names the one before it.
 */
export interface Segment {
  /**
   * The segment that this one follows (SHA-256, hex); null for the first.
   */
  previous: string | null;
  /**
   * Who made the tokens: prompt and observation carry loss mask 0, action 1.
   */
  origin: "prompt" | "action" | "observation";
  /**
   * The tokens as text, for the reader.
   */
  text: string;
  /**
   * Token ids, exactly as sampled or framed.
   *
   * Items: A token id.
   */
  tokens: number[];
  /**
   * Of an action's tokens, one each, in nats at temperature 1.
   *
   * Items: At most 0.
   */
  logprobs?: number[];
  /**
   * Of an action's tokens in the policy's whole distribution at the sampling temperature, where that is neither 1 nor 0.
   *
   * Items: At most 0.
   */
  temperedLogprobs?: number[];
  /**
   * Of an action's tokens in the distribution that they were drawn from, where top-p, a grammar or the like made it another than the policy's at the sampling temperature.
   *
   * Items: At most 0.
   */
  samplingLogprobs?: number[];
  /**
   * Of an action of a mixture of experts: where a router chose narrowly as the action was sampled and what came before it read, since the action before. Three numbers each: the token's position in its row, the layer, and the last expert that was chosen.
   *
   * Items: Counted from 0.
   */
  routerTies?: number[];
  /**
   * The policy version that sampled the action.
   */
  policyVersion?: number;
}
