import { createRemoteEngine, type RemoteModel } from "./remote-engine.ts";
import { type TrainerSteps, type TrainerStepsOptions, trainerSteps } from "./trainer-steps.ts";

/** A model elsewhere, and the settings of its trainer. */
export interface RemoteTrainerOptions extends Omit<TrainerStepsOptions, "engine" | "openCritic"> {
  model: RemoteModel;
}

/** A trainer of a remote model. Its steps also throw TRAINING_REMOTE_LACKS, and the errors of the model. */
export interface RemoteTrainer extends TrainerSteps {
  /** Releases what is here. The remote model stays open. */
  close(): Promise<void>;
}

/** Creates a trainer that computes advantages and losses here, and log-probabilities and updates in a remote model. */
export function createRemoteTrainer({ model, ...options }: RemoteTrainerOptions): RemoteTrainer {
  const engine = createRemoteEngine(model, options.state);
  return { ...trainerSteps({ ...options, engine }), close: engine.close };
}
