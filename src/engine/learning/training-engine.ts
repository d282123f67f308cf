import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { cudaMemory } from "../onnx/cuda-memory.ts";
import type { Precision } from "../onnx/target.ts";
import { createUsage } from "../onnx/usage.ts";
import type { TrainedImages } from "../vision/trained-images.ts";
import { createAdamW } from "./adamw.ts";
import type { TrainingEngine, UpdateRequest, UpdateResult } from "./engine.ts";
import { engineModels } from "./engine-models.ts";
import type { EngineParts } from "./engine-parts.ts";
import { scoreSequences } from "./engine-scores.ts";
import { applySums, checkMemory, gradientsOfSamples, updateOnSamples } from "./engine-update.ts";
import { engineWeights, type Reference } from "./engine-weights.ts";
import { heldMemory } from "./held-memory.ts";
import type { LearningRates } from "./learning-rates.ts";
import { firstLossScale } from "./loss-scale.ts";
import { madeOnce } from "./made-once.ts";
import { passTokens } from "./pass-splits.ts";
import { createStepPlanner, type PlannerOptions } from "./step-planner.ts";
import type { SummedPasses } from "./summed-passes.ts";
import { checkTrainerState, type TrainerState } from "./trainer-state.ts";
import type { TrainedModel } from "./training-graphs.ts";
import type { UpdateSettings } from "./update.ts";

/** The state and the settings of an engine. */
export interface TrainingEngineOptions
  extends Omit<TrainedModel, "attention" | "trainsVision">,
    Omit<UpdateSettings, keyof LearningRates>,
    PlannerOptions {
  /** New (`freshTrainerState`) or saved. The engine takes ownership of it and changes it in place. */
  state: TrainerState;
  /** The policy's state, if this engine trains its critic. It is in the same process, like a state's critic. */
  beside?: TrainerState;
  /**
   * Returns the weights that KL terms refer to, or with an adapter the reference's adapter over the same weights.
   * Called at their first use. Lazy ones are read for each scoring by the reference, if they fit into memory, and
   * released afterwards. Default: with an adapter the weights without it, otherwise none.
   */
  reference?: () => Promise<Reference>;
  /** The images of the policy, if its vision part is trained, which is possible without an adapter on the CPU. */
  images?: TrainedImages | undefined;
  /** Threads per operator. Default: 1. */
  threads?: number;
  /** Where models run, and the type of their matrix products. Default: float32 on the CPU. */
  precision?: Precision;
}

/** An engine that can be saved and closed. */
export interface OpenTrainingEngine extends TrainingEngine {
  /** The current state. Not a copy: the next update changes it. */
  readonly state: TrainerState;
  /** Returns the sums of an update without making it. Only on the CPU. Throws TRAINING_MEMORY_SHORT. */
  gradients(request: UpdateRequest): Promise<SummedPasses>;
  /** Makes an update from its sums, like `update`. Only on the CPU. */
  apply(sums: SummedPasses, rates: LearningRates): Promise<UpdateResult>;
  /** Brings the state up to date if a card holds it. Call it before you save the state. */
  settle(): Promise<void>;
  /**
   * Releases the models after the current pass. The current update or scoring fails with TRAINER_CLOSED, like all later
   * ones.
   */
  close(): Promise<void>;
}

/**
 * Creates an engine on ONNX Runtime. Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID if the state doesn't fit.
 */
export function createTrainingEngine(options: TrainingEngineOptions): OpenTrainingEngine {
  const { config, lora, base, critic = false, state, images, threads = 1, device = "cpu" } = options;
  const { precision = "float32", gradientClip, weightDecay, betas } = options;
  const trainsVision = images !== undefined;
  const trained: TrainedModel = defined({ config, critic, lora, base, trainsVision });
  checkTrainerState(trained, state);
  if (precision === "float16") state.lossScale ??= firstLossScale;
  else delete state.lossScale;
  const usage = createUsage(() => new EverturnError("TRAINER_CLOSED", {}));
  const settings = defined<Pick<TrainingEngineOptions, "gradientClip" | "weightDecay" | "betas">>({
    gradientClip,
    weightDecay,
    betas,
  });
  const optimizer = createAdamW(threads);
  const weights = engineWeights({
    trained,
    state,
    device,
    optimizer,
    settings,
    readReference: options.reference,
  });
  const models = engineModels({
    trained,
    target: { device, precision },
    threads,
    hasReferenceAdapter: weights.hasReferenceAdapter,
    checkOpen: usage.check,
  });
  const planner = madeOnce(async () => {
    const cardMemory = device === "cuda" ? await cudaMemory() : undefined;
    const held = () => heldMemory(state, base, options.beside);
    const given = { ...options, trainsVision };
    return createStepPlanner({ ...given, ...(cardMemory && { available: cardMemory.available }) }, held);
  });
  const parts: EngineParts = {
    trained,
    state,
    device,
    settings,
    available: options.available,
    tokens: passTokens(device, options.maxTokensPerRun),
    optimizer,
    models,
    weights,
    planner: planner.get,
    images,
    checkOpen: usage.check,
  };
  return {
    state,
    check: (...given) => usage.during(() => checkMemory(parts, ...given)),
    score: (...given) => usage.during(() => scoreSequences(parts, ...given)),
    update: (request) => usage.during(() => updateOnSamples(parts, request)),
    gradients: (request) => usage.during(() => gradientsOfSamples(parts, request)),
    apply: (sums, rates) => usage.during(() => applySums(parts, sums, rates)),
    settle: () => usage.during(weights.read),
    close: () =>
      usage.end(async () => {
        await optimizer.close();
        await weights.close();
        await models.close();
      }),
  };
}
