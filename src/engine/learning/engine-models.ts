import { defined } from "../../base/records/defined.ts";
import type { Device } from "../devices/device.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import type { LendingSession } from "../onnx/lending-session.ts";
import { lendsNothing, openLendingSession } from "../onnx/open-lending-session.ts";
import type { Target } from "../onnx/target.ts";
import { madeByKey } from "./made-once.ts";
import type { Objective } from "./objective.ts";
import {
  gradientName,
  type PolicyModel,
  scoringModel,
  type TrainedModel,
  type TrainingModel,
  trainingModel,
} from "./training-graphs.ts";

/** A model and its session. */
export interface OpenModel<Model extends PolicyModel> {
  model: Model;
  session: LendingSession;
}

/**
 * How a training model computes: the number of recomputed layers, the form of attention, and whether it adds gradients
 * up.
 */
type TrainingForm = [recomputed: number, attention: AttentionForm, adds: boolean];

/** The training models of one objective. */
export interface TrainingModels {
  /** Returns a model without a session, for planning. */
  model(...form: TrainingForm): TrainingModel;
  open(...form: TrainingForm): Promise<OpenModel<TrainingModel>>;
}

/** The models of an engine. Each is built and opened at its first use, and stays open. */
export interface EngineModels {
  /** Scores with the policy, including values. */
  policy(attention: AttentionForm): Promise<OpenModel<PolicyModel>>;
  /** Scores with the reference policy. */
  reference(attention: AttentionForm): Promise<OpenModel<PolicyModel>>;
  training(objective: Objective): TrainingModels;
  close(): Promise<void>;
}

interface ModelOptions {
  trained: TrainedModel;
  target: Target & { device: Device };
  threads: number;
  /** Whether the reference policy has an adapter. */
  hasReferenceAdapter: () => Promise<boolean>;
  /** Called before each pass of a model. Throws once the engine is being closed. */
  checkOpen: () => void;
}

/** Returns the models of an engine. None are open yet. */
export function engineModels(options: ModelOptions): EngineModels {
  const { trained, target } = options;
  const { config, base, lora } = trained;
  const policy = madeByKey((attention: AttentionForm) =>
    openModel(scoringModel({ ...trained, attention }, { values: true }, target), options),
  );
  const reference = madeByKey(async (attention: AttentionForm) => {
    const hasAdapter = lora !== undefined && (await options.hasReferenceAdapter());
    const model = defined<TrainedModel>({ config, attention, base, lora: hasAdapter ? lora : undefined });
    return openModel(scoringModel(model, { values: false }, target), options);
  });
  const byObjective = new Map<Objective, ReturnType<typeof trainingModels>>();
  const training = (objective: Objective) => {
    const models = byObjective.get(objective) ?? trainingModels(objective, options);
    byObjective.set(objective, models);
    return models;
  };
  return {
    policy: policy.get,
    reference: reference.get,
    training,
    async close() {
      const all = [policy, reference, ...byObjective.values()].flatMap(({ made }) => made());
      // The caller that needed a model has already received the error of opening it.
      for (const opened of await Promise.allSettled(all))
        if (opened.status === "fulfilled") await opened.value.session.close();
    },
  };
}

function trainingModels(objective: Objective, options: ModelOptions) {
  const { trained, target } = options;
  const models = madeByKey((...[recompute, attention, adds]: TrainingForm) =>
    trainingModel({ ...trained, recompute, attention, adds }, objective, target),
  );
  const opened = madeByKey((...form: TrainingForm) => {
    const model = models.get(...form);
    return openModel(model, options, target.device === "cpu" ? [] : model.trains.map(gradientName));
  });
  return { model: models.get, open: opened.get, made: opened.made };
}

async function openModel<Model extends PolicyModel>(
  model: Model,
  { trained: { base }, target: { device }, threads, checkOpen }: ModelOptions,
  keptOnDevice: readonly string[] = [],
): Promise<OpenModel<Model>> {
  const weightsFolder = base?.folder;
  const session =
    device === "cpu"
      ? await openLendingSession(model.graph, model.bytes, { threads, weightsFolder })
      : lendsNothing(
          await createModelSession(model.bytes, defined({ threads, weightsFolder, device, keptOnDevice })),
        );
  const run: LendingSession["run"] = async (...given) => {
    checkOpen(); // closing the engine waits for a pass, not for a whole update
    return session.run(...given);
  };
  return { model, session: { ...session, run } };
}
