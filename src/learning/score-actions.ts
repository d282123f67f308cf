import type { ModelConfig } from "../models/model-config.ts";
import type { DeviceTensor, Session, Tensor } from "../onnx/session.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "./batch.ts";
import { actionCount } from "./objective.ts";
import { type RunLimits, tokenRuns } from "./token-runs.ts";

/** What a model says of the action tokens of one sequence, in order. */
export interface ActionScores {
  /** Nats. */
  logProbabilities: Float32Array;
  /** Empty if the model has no value head. */
  values: Float32Array;
}

/** A scoring model at work. */
export interface Scoring {
  config: ModelConfig;
  session: Session;
  /** What the model reads beside the batch. */
  parameters: Readonly<Record<string, Tensor | DeviceTensor>>;
  values: boolean;
  temperature: number;
  /** Of one run. */
  limits: RunLimits;
}

/** Runs a scoring model over sequences that each have an action token. */
export async function scoreActions(
  { config, session, parameters, values, temperature, limits }: Scoring,
  sequences: readonly TokenSequence[],
): Promise<ActionScores[]> {
  const scores: ActionScores[] = [];
  const samples = sequences.map((sequence) => [sequence]);
  for (const run of tokenRuns(samples, limits)) {
    const part = run.map((index) => sequences[index]!);
    const batch = batchFeeds(batchSequences(part, config), temperature);
    const outputs = await session.run({ ...parameters, ...batch });
    let start = 0;
    for (const index of run) {
      const end = start + actionCount(sequences[index]!);
      const of = (name: string) => outputs.floats(name).slice(start, end);
      scores[index] = {
        logProbabilities: of("logProbabilities"),
        values: values ? of("values") : new Float32Array(),
      };
      start = end;
    }
    outputs.release();
  }
  return scores;
}
