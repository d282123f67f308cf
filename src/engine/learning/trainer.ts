import { defined } from "../../base/records/defined.ts";
import { freshCritic, freshCriticBytes } from "./critic.ts";
import { dataParallelEngine } from "./data-parallel-engine.ts";
import { checkAvailable } from "./memory-room.ts";
import type { Objective } from "./objective.ts";
import type { Experienced } from "./token-rewards.ts";
import type { TrainerState } from "./trainer-state.ts";
import { type TrainerSteps, type TrainerStepsOptions, trainerSteps } from "./trainer-steps.ts";
import {
  createTrainingEngine,
  type OpenTrainingEngine,
  type TrainingEngineOptions,
} from "./training-engine.ts";
import { hasCritic, type TrainingSettings } from "./training-settings.ts";
import type { UpdateSettings } from "./update.ts";
import { valueObjective } from "./value-objective.ts";

/** The initial state and the settings of a trainer. */
export interface TrainerOptions extends Omit<TrainingEngineOptions, keyof UpdateSettings> {
  settings: TrainingSettings;
  /** Determines how trajectories are shuffled into minibatches. */
  seed: number;
  /** Folder for the batches of steps that diverge. Default: they are not saved. */
  failures?: string;
}

/** An open trainer on ONNX Runtime. */
export interface PolicyTrainer extends TrainerSteps {
  /**
   * The complete state, from which training can continue. Not a copy: the next update changes it. Call `settle` before
   * you save it.
   */
  readonly state: TrainerState;
  /** Brings `state` up to date if a device holds it. */
  settle(): Promise<void>;
  /** Ends the current step at its next pass with TRAINER_CLOSED, like all later ones. Then releases the models. */
  close(): Promise<void>;
}

/** Creates a trainer. Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID if the state doesn't fit. */
export function createTrainer({ settings, seed, failures, ...options }: TrainerOptions): PolicyTrainer {
  const { gradientClip, weightDecay, betas } = settings;
  const updating = defined<Pick<TrainerOptions["settings"], "gradientClip" | "weightDecay" | "betas">>({
    gradientClip,
    weightDecay,
    betas,
  });
  const engine = createTrainingEngine({ ...options, ...updating });
  const { state } = engine;
  /** Created at its first use. Supervised steps don't use it. */
  let critic: { engine: OpenTrainingEngine; objective: Objective } | undefined;
  if (!hasCritic(settings)) delete state.critic;
  const openCritic = async (trajectories: readonly Experienced[]) => {
    await engine.settle();
    if (!state.critic) {
      checkAvailable(freshCriticBytes(options, state), trajectories, options.available);
      state.critic = freshCritic(options, state);
    }
    const { reference: _, images: __, ...model } = options;
    const own = { ...model, ...updating, critic: true, state: state.critic, beside: state };
    critic = { engine: createTrainingEngine(own), objective: valueObjective(settings.valueClip) };
    return critic;
  };
  const steps = trainerSteps(
    defined<TrainerStepsOptions>({
      engine,
      shared: (sharing) => dataParallelEngine(engine, sharing),
      config: options.config,
      state,
      settings,
      seed,
      failures,
      openCritic: hasCritic(settings)
        ? async (trajectories, sharing) => {
            const own = critic ?? (await openCritic(trajectories));
            return sharing ? { ...own, engine: dataParallelEngine(own.engine, sharing) } : own;
          }
        : undefined,
    }),
  );

  return {
    ...steps,
    state,
    async settle() {
      await engine.settle();
      await critic?.engine.settle();
    },
    async close() {
      await engine.close();
      await critic?.engine.close();
    },
  };
}
