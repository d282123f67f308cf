// Generated from schemas/segment.schema.json by scripts/generate-types.ts: change the schema instead.

/**
 * Consecutive tokens of one origin. Segments are content-addressed, and each names the previous one.
 */
export interface Segment {
  /**
   * The previous segment (SHA-256, hex); null for the first.
   */
  previous: string | null;
  /**
   * The origin of the tokens. The loss mask is 0 for prompt and observation, and 1 for action.
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
   * For a prompt or an observation: the images whose tokens are among these, in their order. Absent if there are none.
   *
   * Items: An image by its content, which the run's store holds, and the place of its tokens.
   */
  images?: {
    /**
     * The SHA-256 of its file, in hexadecimal.
     */
    sha256: string;
    /**
     * The position of its first image token in this segment, from 0.
     */
    start: number;
  }[];
  /**
   * For an action: one log-probability per token, in nats at temperature 1.
   *
   * Items: At most 0.
   */
  logprobs?: number[];
  /**
   * For an action sampled at a temperature other than 1 or 0: log-probabilities in the policy's whole distribution at that temperature.
   *
   * Items: At most 0.
   */
  temperedLogprobs?: number[];
  /**
   * For an action: log-probabilities in the distribution that its tokens were sampled from, if top-p, a grammar or another restriction changed it.
   *
   * Items: At most 0.
   */
  samplingLogprobs?: number[];
  /**
   * For an action of a mixture-of-experts model: near-tie routing choices since the previous action, in reading and in sampling. Three numbers each: the token's position in its row, the layer, and the last expert that was chosen.
   *
   * Items: Counted from 0.
   */
  routerTies?: number[];
  /**
   * The policy version that sampled the action.
   */
  policyVersion?: number;
}
