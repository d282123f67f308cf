import type { JsonObject } from "../../contracts/json.ts";
import type { FloatValue } from "../onnx/graph.ts";

/**
 * Inputs of a custom loss for the action tokens of a minibatch: tensors [actions]. Only those that it reads are
 * computed and fed.
 */
export interface LossTensors {
  /** Of the policy that is being updated. Gradients flow through them. */
  readonly logProbabilities: FloatValue;
  /** Of the policy that sampled. */
  readonly oldLogProbabilities: FloatValue;
  /** Of the policy with which reinforcement learning started. */
  readonly referenceLogProbabilities: FloatValue;
  readonly advantages: FloatValue;
  /** Of the whole current distribution, in nats. Gradients flow through them. */
  readonly entropies: FloatValue;
  /** Returns the sum over the action tokens of each token's sequence. */
  sequenceSum(tokens: FloatValue): FloatValue;
  /** Returns the mean over the action tokens of each token's sequence. */
  sequenceMean(tokens: FloatValue): FloatValue;
}

/**
 * A loss plugin's default export. It returns the loss of each action token, [actions], which replaces the clipped
 * ratio. Aggregation, importance correction, value loss, KL and entropy terms stay as configured.
 */
export type LossFunction = (tokens: LossTensors, config: JsonObject) => FloatValue;
