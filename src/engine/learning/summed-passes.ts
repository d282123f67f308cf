import type { Outputs } from "../onnx/model-session.ts";
import type { AdamW } from "./adamw.ts";
import { actionCount, joined, type TrainingSample } from "./objective.ts";
import { addGradientRows, denseGradients, type Feeds, passGradients } from "./pass-gradients.ts";
import type { TrainingModel } from "./training-graphs.ts";

/** The summed results of the passes over one minibatch. */
export interface SummedPasses {
  loss: number;
  terms: Record<string, number>;
  gradients: ReadonlyMap<string, Float32Array>;
  /** Of the action tokens of all samples, in their order. Empty for a critic. */
  logProbabilities: Float32Array;
}

/**
 * Sums a training model's outputs over the passes of a minibatch. The optimizer's threads add the gradients, unless the
 * model does.
 */
export function sumPasses(
  model: Omit<TrainingModel, "graph" | "bytes">,
  samples: readonly TrainingSample[],
  optimizer: Pick<AdamW, "add">,
  adds = false,
) {
  const { terms, logProbabilities: gives } = model;
  let gradients: ReadonlyMap<string, Float32Array> = new Map();
  const scalars = new Map<string, number>();
  const counts = samples.map(({ sequences }) => sequences.reduce((sum, one) => sum + actionCount(one), 0));
  const logProbabilities: Float32Array[] = [];
  let first: Outputs | undefined;
  return {
    /**
     * Adds the outputs of a pass over the samples with these numbers, and takes ownership of them. `feeds` were the
     * pass's inputs.
     */
    async add(outputs: Outputs, pass: readonly number[], feeds: Feeds): Promise<void> {
      for (const name of [...terms, "loss"]) {
        scalars.set(name, (scalars.get(name) ?? 0) + outputs.floats(name)[0]!);
      }
      if (first) {
        if (!adds) await optimizer.add(gradients, denseGradients(model, outputs));
        addGradientRows(model, gradients, outputs, feeds);
      } else gradients = passGradients(model, outputs, feeds);
      let start = 0;
      for (const index of gives ? pass : []) {
        const end = start + counts[index]!;
        logProbabilities[index] = outputs.floats("logProbabilities").slice(start, end);
        start = end;
      }
      // The sums use the memory of the first pass's outputs.
      if (first) outputs.release();
      else first = outputs;
    },
    total(): SummedPasses {
      return {
        loss: scalars.get("loss") ?? 0,
        terms: Object.fromEntries(terms.map((name) => [name, scalars.get(name) ?? 0])),
        gradients,
        logProbabilities: joined(logProbabilities),
      };
    },
    /** Releases the memory of the sums. The gradients are empty afterwards. */
    release(): void {
      first?.release();
    },
  };
}
