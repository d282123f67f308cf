import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Card } from "../devices/device.ts";
import { toDevice } from "../onnx/device-memory.ts";
import type { DeviceTensor, Outputs, Tensor } from "../onnx/model-session.ts";
import { countUpdate } from "./count-update.ts";
import { createDeviceOptimizer } from "./device-optimizer.ts";
import type { LearningRates } from "./learning-rates.ts";
import { momentsInNumbers } from "./optimizer-state.ts";
import { type TrainerState, trainedParameters } from "./trainer-state.ts";
import { gradientName } from "./training-graphs.ts";
import type { UpdateOutcome, UpdateSettings } from "./update.ts";

/** A trainer's parameters in the memory of a card, which also updates them. */
export interface TrainedOnCard {
  /** Returns all current parameters. */
  parameters(): ReadonlyMap<string, DeviceTensor>;
  /** Adds the gradients of a pass to those of the next update. */
  add(outputs: Outputs, trains: readonly string[]): Promise<void>;
  /** Updates the parameters like `applyUpdate`. Throws TRAINING_NOT_FINITE. */
  update(rates: LearningRates): Promise<UpdateOutcome>;
  /** Copies the trained parameters and their moments to the state. */
  read(): Promise<void>;
  close(): Promise<void>;
}

/** Moves a state's tensors to the card. Until `read`, only the state's counters change. */
export async function trainOnCard(
  card: Card,
  state: TrainerState,
  settings: Omit<UpdateSettings, keyof LearningRates>,
): Promise<TrainedOnCard> {
  const { gradientClip, weightDecay, betas = [0.9, 0.999] } = settings;
  const trained = trainedParameters(state);
  const frozen = new Map([...state.weights].filter(([name]) => !trained.has(name)));
  const moments = momentsInNumbers(state.optimizer);
  if (!moments) {
    const reason = "its moments are in 8 bits, which a card's optimizer does not read";
    throw new EverturnError("TRAINING_STATE_INVALID", { reason });
  }
  const optimizer = await createDeviceOptimizer(card, trained, moments, { gradientClip, betas });
  const still = frozen.size > 0 ? await toDevice(frozen, card) : undefined;
  const take = (tensors: ReadonlyMap<string, Tensor>, into: Map<string, unknown>) => {
    for (const name of into.keys()) into.set(name, tensors.get(name) ?? into.get(name));
  };

  return {
    parameters: () => new Map([...(still?.tensors ?? []), ...optimizer.parameters()]),
    add: (outputs, trains) =>
      optimizer.add(new Map(trains.map((name) => [name, outputs.deviceTensor(gradientName(name))]))),
    async update(rates) {
      const gradientNorm = await optimizer.update({ ...rates, weightDecay, update: state.updates + 1 });
      return { gradientNorm, skipped: !countUpdate(state, { "the gradient's norm": gradientNorm }) };
    },
    async read() {
      const tensors = await optimizer.read();
      for (const part of [state.weights, state.adapter, state.valueHead, state.optimizer])
        take(tensors, part);
    },
    async close() {
      await optimizer.close();
      for (const tensor of still?.tensors.values() ?? []) tensor.dispose();
      await still?.session.close();
    },
  };
}
