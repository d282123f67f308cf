import type { ModelConfig } from "../models/config/model-config.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import type { Outputs, Tensor } from "../onnx/model-session.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "./batch.ts";
import { actionCount } from "./objective.ts";
import { type PassTokens, passSplits } from "./pass-splits.ts";
import { lengthStep, prefixLength, scoringForm } from "./token-passes.ts";

/** A model's scores of the action tokens of one sequence, in order. */
export interface ActionScores {
  /** Nats. Empty for a critic. */
  logProbabilities: Float32Array;
  /** Empty if the model has no value head. */
  values: Float32Array;
}

/** An open scoring model. */
export interface Scoring {
  config: ModelConfig;
  /** Runs the model with a form of attention. */
  run(form: AttentionForm, batch: Readonly<Record<string, Tensor>>): Promise<Outputs>;
  /** Whether the form depends on the sequences of a pass. Otherwise attention keeps its weights in one piece. */
  forms: boolean;
  values: boolean;
  logProbabilities: boolean;
  temperature: number;
  tokens: PassTokens;
}

/** Scores sequences with at least one action token each. Calls `onShare` with the share done so far, from 0 to 1. */
export async function scoreActions(
  { config, run: runModel, forms, values, logProbabilities, temperature, tokens }: Scoring,
  sequences: readonly TokenSequence[],
  onShare?: (share: number) => void,
): Promise<ActionScores[]> {
  const scores: ActionScores[] = [];
  let done = 0;
  const samples = sequences.map((sequence) => [sequence]);
  for (const pass of passSplits(samples, config, tokens).cheapest.passes) {
    const part = pass.map((index) => sequences[index]!);
    const form = forms ? scoringForm(part, config) : "kept";
    const batch = batchSequences(part, config, lengthStep(form), prefixLength(form, part));
    const outputs = await runModel(form, batchFeeds(batch, temperature));
    let start = 0;
    for (const index of pass) {
      const end = start + actionCount(sequences[index]!);
      const of = (name: string) => outputs.floats(name).slice(start, end);
      scores[index] = {
        logProbabilities: logProbabilities ? of("logProbabilities") : new Float32Array(),
        values: values ? of("values") : new Float32Array(),
      };
      start = end;
    }
    outputs.release();
    done += pass.length;
    onShare?.(done / sequences.length);
  }
  return scores;
}
