import type { AttentionForm } from "../models/graph/decoder.ts";
import type { Tensor } from "../onnx/model-session.ts";
import type { TrainedImages } from "../vision/trained-images.ts";
import { checkSequences, type TokenSequence } from "./batch.ts";
import { type EngineParts, idsOf, select } from "./engine-parts.ts";
import { bytesToLoad, loadedFor } from "./loaded-for.ts";
import { checkAvailable } from "./memory-room.ts";
import { type ActionScores, scoreActions } from "./score-actions.ts";

/** Scores the action tokens of sequences, for `TrainingEngine.score`. */
export async function scoreSequences(
  { trained, device, available, tokens, models, weights, images, checkOpen }: EngineParts,
  given: readonly TokenSequence[],
  by: "policy" | "reference",
  temperature = 1,
  onShare?: (share: number) => void,
): Promise<ActionScores[]> {
  const { config, critic = false } = trained;
  checkSequences(given, config);
  const parameters = await weights[by]();
  const sequences = images ? await seenBy(by, images, given, checkOpen) : given;
  checkAvailable(bytesToLoad(parameters.values()), sequences, available);
  return loadedFor(parameters, (loaded) => {
    const run = async (attention: AttentionForm, batch: Readonly<Record<string, Tensor>>) => {
      const { model, session } = await models[by](attention);
      return session.run({ ...select(loaded, model.reads), ...batch });
    };
    const scoring = {
      config,
      run,
      forms: device === "cpu",
      values: by === "policy",
      logProbabilities: !critic,
      temperature,
      tokens,
    };
    return scoreActions(scoring, sequences, onShare);
  });
}

/** Returns sequences with the embeddings of their images under these weights. */
async function seenBy(
  by: "policy" | "reference",
  images: TrainedImages,
  sequences: readonly TokenSequence[],
  checkOpen: () => void,
): Promise<readonly TokenSequence[]> {
  if (by === "reference") {
    const embeddings = await images.ofReference(idsOf(sequences), checkOpen);
    return sequences.map((sequence) => ({ ...sequence, embeddings }));
  }
  await images.refresh(idsOf(sequences), checkOpen);
  return sequences;
}
