import type { JsonObject } from "../../contracts/json.ts";
import type { FloatValue } from "../onnx/graph.ts";

/**
 * What a custom loss sees of the action tokens of a minibatch: tensors [actions]. What it reads is what gets computed and
 * fed; the rest costs nothing.
 */
export interface LossTensors {
  /** Of the policy that is being updated; gradients flow through them. */
  readonly logProbabilities: FloatValue;
  /** Of the policy that sampled. */
  readonly oldLogProbabilities: FloatValue;
  /** Of the policy that reinforcement learning started with. */
  readonly referenceLogProbabilities: FloatValue;
  readonly advantages: FloatValue;
  /** Of the whole distribution now, in nats; gradients flow through them. */
  readonly entropies: FloatValue;
  /** The sum over the action tokens of each token's sequence. */
  sequenceSum(tokens: FloatValue): FloatValue;
  /** The mean over the action tokens of each token's sequence. */
  sequenceMean(tokens: FloatValue): FloatValue;
}

/**
 * A loss plugin's default export: the loss of each action token, [actions], which takes the place of the clipped ratio.
 * Aggregation, importance correction, value loss, KL and entropy terms stay what the trainer's configuration says.
 */
export type LossFunction = (tokens: LossTensors, config: JsonObject) => FloatValue;
