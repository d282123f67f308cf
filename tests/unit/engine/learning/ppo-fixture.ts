import { expect } from "vitest";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import type { Experienced } from "../../../../src/engine/learning/token-rewards.ts";
import { freshTrainerState, type TrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import type { ModelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { relativeError, torchFixture, withPrefix } from "../../torch-fixtures.ts";

/** The PPO step of scripts/make-torch-fixtures.py. */
export interface PpoFixture {
  config: ModelConfig;
  settings: TrainingSettings;
  trajectories: Experienced[];
  supervisedLoss: number;
  /** Loss terms and gradient norm of each of the three updates. */
  updates: Record<string, number>[];
  tensors: Map<string, Tensor>;
  state: TrainerState;
  reference: () => Promise<Map<string, Tensor>>;
}

export async function ppoFixture(): Promise<PpoFixture> {
  const { config, json, tensors } = await torchFixture("ppo");
  const before = withPrefix(tensors, "before.");
  const reference = withPrefix(tensors, "reference.");
  const isHead = ([name]: [string, Tensor]) => name.startsWith("value_head.");
  const state = freshTrainerState({ config }, new Map([...before].filter((entry) => !isHead(entry))));
  state.valueHead = new Map([...before].filter(isHead));
  return {
    config,
    settings: {
      ...algorithmPresets.ppo,
      decay: "none",
      decaySteps: 1,
      finalFraction: 0,
      ...(json.settings as Omit<TrainingSettings, "decay" | "decaySteps" | "finalFraction">),
    },
    trajectories: json.trajectories as Experienced[],
    supervisedLoss: json.supervisedLoss as number,
    updates: json.updates as Record<string, number>[],
    tensors,
    state,
    reference: async () => reference,
  };
}

/** Holds each tensor to its counterpart under `prefix`, within 1e-4 of its largest number. */
export function expectTensors(
  actual: ReadonlyMap<string, Float32Array>,
  fixture: PpoFixture,
  prefix: string,
) {
  const expected = withPrefix(fixture.tensors, prefix);
  expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [name, { data }] of expected) {
    expect(relativeError(actual.get(name)!, data), `${prefix}${name}`).toBeLessThan(1e-4);
  }
}
