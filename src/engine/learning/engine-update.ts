import { defined } from "../../base/records/defined.ts";
import type { AttentionForm } from "../models/graph/decoder.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "./batch.ts";
import type { UpdateRequest, UpdateResult } from "./engine.ts";
import type { TrainingModels } from "./engine-models.ts";
import { type EngineParts, idsOf, select } from "./engine-parts.ts";
import type { LearningRates } from "./learning-rates.ts";
import { type Objective, objectiveFeeds, type TrainingSample } from "./objective.ts";
import type { StepPlanner } from "./step-planner.ts";
import { type SummedPasses, sumPasses } from "./summed-passes.ts";
import { lengthStep, prefixLength } from "./token-passes.ts";
import type { TrainedOnCard } from "./trained-on-card.ts";
import { imagesGradient } from "./training-graphs.ts";
import { applyUpdate } from "./update.ts";
import { visionGradients } from "./vision-gradients.ts";

/** Checks that the longest sample fits into memory, for `TrainingEngine.check`. */
export async function checkMemory(
  { planner, models }: Pick<EngineParts, "planner" | "models">,
  objective: Objective,
  samples: readonly (readonly TokenSequence[])[],
): Promise<void> {
  const lengths = samples.map((rows) => rows.reduce((total, { tokens }) => total + tokens.length, 0));
  const sequences = samples[lengths.indexOf(Math.max(...lengths))];
  if (!sequences) return;
  (await planner()).check([{ sequences, columns: {} }], (recomputed, attention) => {
    return models.training(objective).model(recomputed, attention, false).graph; // one sample is one pass
  });
}

/** A part of an update that is computed in one pass. */
interface PlannedPass {
  /** The numbers of its samples. */
  members: readonly number[];
  samples: TrainingSample[];
  attention: AttentionForm;
}

/** Splits an update into passes. Throws TRAINING_MEMORY_SHORT. */
function planPasses(
  planner: StepPlanner,
  models: TrainingModels,
  samples: readonly TrainingSample[],
  canAdd: boolean,
): { recomputed: number; passes: PlannedPass[] } {
  const { recomputed, passes, forms } = planner.plan(samples, (layers, attention, isSummed) => {
    return models.model(layers, attention, isSummed && canAdd).graph;
  });
  return {
    recomputed,
    passes: passes.map((members, number) => ({
      members,
      samples: members.map((index) => samples[index]!),
      attention: forms[number]!,
    })),
  };
}

/** Computes the gradients of a minibatch pass by pass and updates the state, for `TrainingEngine.update`. */
export function updateOnSamples(parts: EngineParts, request: UpdateRequest): Promise<UpdateResult> {
  const { objective, samples, scalars, temperature, onShare, ...rates } = request;
  return withSums(parts, request, async (sums, card) => {
    if (!card) return applySums(parts, sums, rates);
    const { gradients: _, ...measured } = sums;
    const lossScale = parts.state.lossScale?.scale;
    return defined({ ...measured, ...(await card.update(rates)), lossScale });
  });
}

/** Computes the gradients of a minibatch on the CPU without updating the state, for `OpenTrainingEngine.gradients`. */
export function gradientsOfSamples(parts: EngineParts, request: UpdateRequest): Promise<SummedPasses> {
  return withSums(parts, request, async (sums) => {
    const gradients = new Map(Array.from(sums.gradients, ([name, data]) => [name, data.slice()]));
    return { ...sums, gradients };
  });
}

/** Updates the state on the CPU with the gradients of a minibatch, for `OpenTrainingEngine.apply`. */
export async function applySums(
  { optimizer, state, settings, weights }: EngineParts,
  { gradients, ...measured }: SummedPasses,
  rates: LearningRates,
): Promise<UpdateResult> {
  await weights.gradientRooms(); // the optimizer works in them
  const lossScale = state.lossScale?.scale;
  const outcome = await applyUpdate(optimizer, state, measured.loss, gradients, { ...settings, ...rates });
  return defined({ ...measured, ...outcome, lossScale });
}

/** Sums the passes over a minibatch. `use` receives the sums before their memory is released. */
async function withSums<Result>(
  parts: EngineParts,
  request: UpdateRequest,
  use: (sums: SummedPasses, card: TrainedOnCard | undefined) => Promise<Result>,
): Promise<Result> {
  const { trained, state, optimizer, weights, images } = parts;
  const { objective, samples, scalars, temperature = 1, onShare } = request;
  if (!weights.hasRooms()) {
    await checkMemory(
      parts,
      objective,
      samples.map(({ sequences }) => sequences),
    );
  }
  const card = await weights.card();
  const { rooms, into, canAdd, zeros } = await weights.gradientRooms();
  const models = parts.models.training(objective);
  const ids = idsOf(samples.flatMap(({ sequences }) => sequences));
  const all = samples.length + ((await images?.refresh(ids, parts.checkOpen)) ?? 0);
  const { recomputed, passes } = planPasses(await parts.planner(), models, samples, canAdd);
  // The gradients of a single pass stay in the runtime's memory, where activations were.
  const isSummed = passes.length > 1;
  const adds = isSummed && canAdd;
  const lossScale = state.lossScale?.scale;
  const first = models.model(recomputed, passes[0]?.attention ?? "kept", adds);
  const ofAllPasses = {
    ...select(await weights.policy(), first.reads),
    ...(adds ? zeros(first.trains) : {}),
    ...(lossScale !== undefined && { lossScale: { shape: [], data: Float32Array.of(lossScale) } }),
  };
  const sum = sumPasses(card ? { ...first, trains: [] } : first, samples, optimizer, adds);
  let computed = 0;
  const count = (more: number) => {
    computed += more;
    onShare?.(computed / all);
  };
  const beforeImage = () => {
    parts.checkOpen();
    count(1);
  };
  const vision = images && visionGradients(images, rooms, optimizer, beforeImage);
  try {
    for (const pass of passes) {
      const { model, session } = await models.open(recomputed, pass.attention, adds);
      const sequences = pass.samples.flatMap((sample) => sample.sequences);
      const prefix = prefixLength(pass.attention, sequences);
      const batch = batchSequences(sequences, trained.config, lengthStep(pass.attention), prefix);
      const feeds = {
        ...ofAllPasses,
        ...batchFeeds(batch, temperature),
        ...objectiveFeeds(objective, pass.samples, scalars),
      };
      const isWritten = adds || (isSummed && computed === 0);
      const outputs = await session.run(feeds, isWritten ? into : undefined);
      await card?.add(outputs, model.trains);
      vision?.add(batch, outputs.floats(imagesGradient));
      await sum.add(outputs, pass.members, feeds);
      count(pass.members.length);
    }
    const sums = sum.total();
    const gradients = new Map([...sums.gradients, ...((await vision?.total()) ?? [])]);
    return await use({ ...sums, gradients }, card);
  } finally {
    sum.release();
    vision?.release();
  }
}
