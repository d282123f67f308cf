import type {
  ConfigOf,
  Defined,
  DefinedPolicy,
  DefinedTrainer,
  ObjectSchema,
} from "../../contracts/definitions.ts";
import type { PolicyPlugin } from "../../contracts/policy.ts";
import type { TrainerPlugin } from "../../contracts/trainer.ts";
import type { LossFunction, LossTensors } from "../../engine/learning/loss-function.ts";
import type { FloatValue } from "../../engine/onnx/graph.ts";
import { marked } from "./mark.ts";

/** A loss defined in one file. */
export interface DefinedLoss<ConfigSchema, Config> extends Defined<ConfigSchema> {
  /** Default: the name of the file. */
  name?: string;
  /** The loss of each action token. */
  loss(tokens: LossTensors, config: Config): FloatValue;
}

/** Defines a loss in one file, as its default export: `trainer: { …, loss: ./losses/soft.ts }`. */
export function defineLoss<const Config extends ObjectSchema | undefined = undefined>(
  definition: DefinedLoss<Config, ConfigOf<Config>>,
): LossFunction;
export function defineLoss({ name, ...definition }: { name?: string; loss: LossFunction }): LossFunction {
  const loss: LossFunction = (tokens, config) => definition.loss(tokens, config);
  if (name !== undefined) Object.defineProperty(loss, "name", { value: name, enumerable: true });
  return marked("loss", Object.assign(loss, definition));
}

/** Defines a policy in one file, as its default export: `policy: ./policies/own.ts`. */
export function definePolicy(definition: DefinedPolicy): PolicyPlugin {
  return marked("policy", { ...definition });
}

/** Defines a trainer in one file, as its default export: `trainer: ./trainers/own.ts`. */
export function defineTrainer(definition: DefinedTrainer): TrainerPlugin {
  return marked("trainer", { ...definition });
}
