import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Device } from "../devices/device.ts";
import type { LazyTensor, Tensor } from "../models/weights/safetensors.ts";
import type { DeviceTensor } from "../onnx/model-session.ts";
import { runtimeFunctions } from "../onnx/runtime-functions.ts";
import type { AdamW } from "./adamw.ts";
import { type GradientRooms, gradientRooms } from "./gradient-rooms.ts";
import type { LearningRates } from "./learning-rates.ts";
import { madeOnce } from "./made-once.ts";
import { settleState } from "./settled-state.ts";
import { type TrainedOnCard, trainOnCard } from "./trained-on-card.ts";
import { checkReference, parametersOf, type TrainerState } from "./trainer-state.ts";
import type { TrainedModel } from "./training-graphs.ts";
import type { UpdateSettings } from "./update.ts";

/** Weights of the reference policy, or its adapter. */
export type Reference = ReadonlyMap<string, Tensor | LazyTensor>;

/** Tensors that a model reads, by name. */
export type Parameters = ReadonlyMap<string, Tensor | DeviceTensor>;

/** The weights of an engine, either in the state, where AdamW works on them in place, or on a card. */
export interface EngineWeights {
  /** Returns the parameters on a card if they are trained there; undefined on the CPU. */
  card(): Promise<TrainedOnCard | undefined>;
  /** Returns the policy's current parameters. */
  policy(): Promise<Parameters>;
  /** Returns the reference's parameters. Throws TRAINING_STATE_INVALID if there are none. */
  reference(): Promise<ReadonlyMap<string, Tensor | DeviceTensor | LazyTensor>>;
  hasReferenceAdapter(): Promise<boolean>;
  /**
   * Returns the memory in which gradients of several passes are added up. The first call moves the state's tensors
   * there.
   */
  gradientRooms(): Promise<GradientRooms>;
  /** Whether the gradients have rooms. Making them takes memory. */
  hasRooms(): boolean;
  /** Copies the parameters and moments on a card to the state. */
  read(): Promise<void>;
  close(): Promise<void>;
}

interface WeightOptions {
  trained: TrainedModel;
  state: TrainerState;
  device: Device;
  optimizer: AdamW;
  settings: Omit<UpdateSettings, keyof LearningRates>;
  /** Reads the reference's weights or its adapter. Undefined without a reference. */
  readReference: (() => Promise<Reference>) | undefined;
}

/** Returns the weights of an engine, initially in the state. */
export function engineWeights({
  trained,
  state,
  device,
  optimizer,
  settings,
  readReference,
}: WeightOptions): EngineWeights {
  const card = madeOnce(async () =>
    device === "cpu" ? undefined : await trainOnCard(device, state, settings),
  );
  const rooms = madeOnce(async () => {
    const runtime = device === "cpu" ? await runtimeFunctions() : undefined;
    const byParameter = runtime && (await settleState(state, optimizer, runtime.memoryAdvice));
    return gradientRooms(byParameter ?? new Map(), state, trained.lora !== undefined);
  });
  const reference = madeOnce(async () => {
    const weights = await readReference?.();
    if (weights) checkReference(trained, weights);
    else if (!trained.lora) {
      const reason = "a reference policy is wanted, but none was given";
      throw new EverturnError("TRAINING_STATE_INVALID", { reason });
    }
    return weights;
  });
  return {
    card: card.get,
    policy: async () => (await card.get())?.parameters() ?? parametersOf(state),
    reference: async () => {
      const onCard = (await card.get())?.parameters();
      return new Map<string, Tensor | DeviceTensor | LazyTensor>([
        ...state.weights,
        ...((await reference.get()) ?? onCard ?? []),
      ]);
    },
    hasReferenceAdapter: async () => (await reference.get()) !== undefined,
    gradientRooms: rooms.get,
    hasRooms: () => rooms.made() !== undefined,
    read: async () => (await card.made())?.read(),
    close: async () => {
      // The caller that needed a card has already received the error of opening it.
      const [onCard] = await Promise.allSettled([card.made()]);
      if (onCard.status === "fulfilled") await onCard.value?.close();
    },
  };
}
