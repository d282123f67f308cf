import type { ModelConfig } from "../models/model-config.ts";
import type { Tensor } from "../models/safetensors.ts";
import type { Session } from "../onnx/session.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "./batch.ts";

/** What a model says of the action tokens of one sequence, in order. */
export interface ActionScores {
  /** Nats, at temperature 1. */
  logProbabilities: Float32Array;
  values: Float32Array;
}

/** Runs the scoring model over sequences, `size` at a time; each must have an action token. */
export async function scoreActions(
  session: Session,
  config: ModelConfig,
  parameters: ReadonlyMap<string, Tensor>,
  sequences: readonly TokenSequence[],
  size: number,
): Promise<ActionScores[]> {
  const scores: ActionScores[] = [];
  for (let start = 0; start < sequences.length; start += size) {
    const part = sequences.slice(start, start + size);
    const batch = batchFeeds(batchSequences(part, config));
    const outputs = await session.run({ ...Object.fromEntries(parameters), ...batch });
    const logProbabilities = outputs.floats("logProbabilities");
    const values = outputs.floats("values");
    let row = 0;
    for (const { mask } of part) {
      const end = row + mask.filter((marked) => marked === 1).length;
      scores.push({
        logProbabilities: logProbabilities.subarray(row, end),
        values: values.subarray(row, end),
      });
      row = end;
    }
  }
  return scores;
}
