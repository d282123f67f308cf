import { defined } from "../../base/records/defined.ts";
import { madeOnce } from "./made-once.ts";
import { createRemoteEngine, type RemoteModel } from "./remote-engine.ts";
import { sequencesOf } from "./token-rewards.ts";
import { type TrainerSteps, type TrainerStepsOptions, trainerSteps } from "./trainer-steps.ts";
import { createTrainingEngine, type TrainingEngineOptions } from "./training-engine.ts";
import { valueObjective } from "./value-objective.ts";

/** A critic on ONNX Runtime, and how it is trained. */
export type CriticModel = Pick<
  TrainingEngineOptions,
  "config" | "state" | "threads" | "gradientClip" | "weightDecay" | "betas"
>;

/** A model elsewhere, and the settings of its trainer. */
export interface RemoteTrainerOptions extends Omit<TrainerStepsOptions, "engine" | "openCritic"> {
  model: RemoteModel;
  /**
   * Returns the critic, which is trained here. Called at the first policy-gradient step. Advantages with values need
   * it. Default: none.
   */
  openCritic?: () => Promise<CriticModel>;
}

/** A trainer of a remote model. Its steps also throw TRAINING_REMOTE_LACKS, and the errors of the model. */
export interface RemoteTrainer extends TrainerSteps {
  /** Releases what is here. The remote model stays open. */
  close(): Promise<void>;
}

/**
 * Creates a trainer that computes advantages and losses here, and log-probabilities and updates in a remote model.
 * Values come from a critic here.
 */
export function createRemoteTrainer({ model, openCritic, ...options }: RemoteTrainerOptions): RemoteTrainer {
  const engine = createRemoteEngine(model, options.state);
  const critic =
    openCritic &&
    madeOnce(async () => ({
      engine: createTrainingEngine({ ...(await openCritic()), critic: true }),
      objective: valueObjective(options.settings.valueClip),
    }));
  const steps = trainerSteps(
    defined<TrainerStepsOptions>({
      ...options,
      engine,
      openCritic:
        critic &&
        (async (trajectories) => {
          const { engine: own, objective } = await critic.get();
          // Memory that is short here must not be noticed after the remote model's update.
          await own.check(objective, trajectories.map(sequencesOf));
          return { engine: own, objective };
        }),
    }),
  );
  return {
    ...steps,
    async close() {
      await engine.close();
      // The step that needed the critic has already received the error of opening it.
      const [opened] = await Promise.allSettled([critic?.made()]);
      if (opened.status === "fulfilled") await opened.value?.engine.close();
    },
  };
}
