import type { ServerProfile } from "../../../plugins/trainer-tinker/profiles.ts";
import {
  derivativesOf,
  type TinyModel,
  type TinyState,
  tinyModel,
  withoutMoments,
} from "../tinker-arithmetic.ts";
import { drawnNumbers, type History, type SamplesFrom, ServedModel } from "./models.ts";
import type { ServedPass } from "./wire.ts";

/** The weights of a server's models by their histories, which survive its restarts as checkpoints do. */
export type WeightsByHistory = Map<string, TinyState>;

/** A served model with the tiny model's real arithmetic, and the reductions of a profile. */
export class ArithmeticModel extends ServedModel {
  readonly #profile: ServerProfile;
  readonly #vocabulary: number;
  readonly #states: WeightsByHistory;
  /** The passes since the last optimizer step, as long as `gradients` is not emptied from outside. */
  #passes: ServedPass[] = [];

  constructor(
    profile: ServerProfile,
    { vocabulary, states }: { vocabulary: number; states: WeightsByHistory },
    ...given: ConstructorParameters<typeof ServedModel>
  ) {
    super(...given);
    this.#profile = profile;
    this.#vocabulary = vocabulary;
    this.#states = states;
  }

  override accumulate(pass: ServedPass): void {
    if (this.gradients.length === 0) this.#passes = [];
    super.accumulate(pass);
    this.#passes.push(pass);
  }

  override step(params: Record<string, number>): Record<string, number> {
    const model = this.#model();
    const passes = this.gradients.length === 0 ? [] : this.#passes;
    let sequences = 0;
    for (const { loss, config, data } of passes) {
      const received = data.map(({ tokens, inputs }) => ({
        columns: inputs,
        logProbabilities: model.forward(tokens, inputs.target_tokens ?? []),
      }));
      const derivatives = derivativesOf(this.#profile.crossEntropy, loss, received, config);
      data.forEach(({ tokens, inputs }, index) => {
        model.add(tokens, inputs.target_tokens ?? [], derivatives[index]!);
      });
      sequences += data.length;
    }
    const { learning_rate = 0, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weight_decay = 0 } = params;
    const clip = this.#profile.clips ? { gradientClip: params.grad_clip_norm ?? 0 } : {};
    const numbers = {
      learningRate: learning_rate,
      beta1,
      beta2,
      epsilon: eps,
      weightDecay: weight_decay,
      ...clip,
    };
    const isMean = this.#profile.crossEntropy === "sequence-mean";
    const norm = model.step(numbers, isMean ? Math.max(1, sequences) : 1);
    super.step(params);
    this.#states.set(keyOf(this.history), model.state());
    const { gradientNorm } = this.#profile;
    return gradientNorm === undefined ? {} : { [gradientNorm]: norm };
  }

  override logprobs({ data }: ServedPass): number[][] {
    const model = this.#model();
    return data.map(({ tokens, inputs }) => [...model.forward(tokens, inputs.target_tokens ?? [])]);
  }

  #model(): TinyModel {
    return tinyModel(this.#vocabulary, stateOf(this.#states, this.history));
  }
}

/** Draws from the tiny model's distribution. A sequence ends after a token of `stop`. */
export function arithmeticSamples(vocabulary: number, states: WeightsByHistory): SamplesFrom {
  return (history, request, index) => {
    const model = tinyModel(vocabulary, stateOf(states, history));
    const tokens: number[] = [];
    const logprobs: number[] = [];
    let last = request.prompt.at(-1) ?? 0;
    for (const drawn of drawnNumbers(history, request, index)) {
      const distribution = model.next(last);
      last = request.temperature === 0 ? likeliest(distribution) : tokenAt(distribution, drawn);
      tokens.push(last);
      logprobs.push(distribution[last]!);
      if (request.stop.includes(last)) return { tokens, logprobs, stop_reason: "stop" };
    }
    return { tokens, logprobs, stop_reason: "length" };
  };
}

function likeliest(distribution: Float64Array): number {
  return distribution.indexOf(distribution.reduce((most, value) => Math.max(most, value)));
}

/** The token at a place of the cumulative distribution. */
function tokenAt(distribution: Float64Array, place: number): number {
  let sum = 0;
  const found = distribution.findIndex((value) => {
    sum += Math.exp(value);
    return place < sum;
  });
  return found === -1 ? distribution.length - 1 : found;
}

/** The weights of a model or a checkpoint. Undefined for fresh ones. */
export function stateOf(states: WeightsByHistory, history: History): TinyState | undefined {
  if (history.at(-1) !== "new optimizer state") return states.get(keyOf(history));
  const state = stateOf(states, history.slice(0, -1));
  return state && withoutMoments(state);
}

function keyOf(history: History): string {
  return history.join("\n");
}
