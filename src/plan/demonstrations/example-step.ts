import { batchesOfIndices } from "../../base/random/batch-indices.ts";
import { defined } from "../../base/records/defined.ts";
import type { ExampleMetrics } from "../../contracts/ledger.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { MaskedTokens } from "../../contracts/policy.ts";
import type { PreferenceMetrics, SupervisedMetrics, Trainer } from "../../contracts/trainer.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { examplesPurpose } from "./example-rows.ts";
import type { FramedExamples } from "./framed-examples.ts";
import { heldOutOf } from "./held-out.ts";
import { pairsAt } from "./pairs.ts";
import { trainerLacks } from "./trainer-lacks.ts";

/** Metrics of an update on demonstrations, or on pairs. */
type UpdateMetrics = SupervisedMetrics & Partial<PreferenceMetrics>;

/** Makes a step's updates on a run's examples, then measures the held-out ones. Throws TRAINER_LACKS. */
export async function exampleStep(
  trainer: Trainer,
  run: Pick<OpenRun, "plan" | "store">,
  examples: FramedExamples,
  step: number,
  onProgress: (said: string) => void,
): Promise<ExampleMetrics> {
  const { plan } = run;
  const { batchSize: size, updates } = settingsOf(plan);
  const { trained } = examples.rows;
  const [from, to] = [(step - 1) * updates, step * updates];
  const draws = { length: trained.length, size, from, to, seed: plan.seed, purpose: examplesPurpose };
  const batches = batchesOfIndices(draws).map((batch) => batch.map((index) => trained[index] ?? 0));
  const measured: UpdateMetrics[] = [];
  const tokens = { prompt: 0, action: 0, observation: 0 };
  for (const [at, batch] of batches.entries()) {
    const { sequences, update } = await updateOf(trainer, run, examples, batch, onProgress);
    onProgress(`update ${at + 1} of ${batches.length}`);
    measured.push(await update());
    for (const { mask } of sequences) {
      const actions = mask.filter((marked) => marked === 1).length;
      tokens.action += actions;
      tokens.prompt += mask.length - actions;
    }
  }
  const mean = (of: (one: UpdateMetrics) => number | undefined) =>
    meanOf(measured.flatMap((one) => of(one) ?? []));
  const [accuracy, margin] = [mean((one) => one.accuracy), mean((one) => one.margin)];
  return defined({
    examples: updates * size,
    epoch: (to * size) / trained.length,
    loss: mean(({ loss }) => (Number.isFinite(loss) ? loss : undefined)) ?? 0, // an update that float16 skipped may have an infinite loss
    accuracy,
    margin,
    ...(await heldOutOf(trainer, run, examples, onProgress)),
    gradientNorm: mean(({ gradientNorm }) => gradientNorm) ?? 0,
    learningRate: measured.at(-1)?.learningRate ?? 0,
    tokens,
  });
}

/** An update, and the number of all tokens in it. */
async function updateOf(
  trainer: Trainer,
  run: Pick<OpenRun, "plan" | "store">,
  examples: FramedExamples,
  ...[rows, onProgress]: [rows: readonly number[], onProgress: (said: string) => void]
): Promise<{ sequences: MaskedTokens[]; update: () => Promise<UpdateMetrics> }> {
  const { steps, dpo } = run.plan;
  const { updates, learningRate } = settingsOf(run.plan);
  const schedule = { learningRate, steps: steps * updates };
  if (dpo === undefined) {
    const sequences = await examples.learned.at(rows);
    return { sequences, update: () => trainer.supervisedStep(sequences, schedule) };
  }
  const { beta, loss, labelSmoothing } = dpo;
  const pairs = await pairsAt(trainer, run, examples, rows, onProgress);
  return {
    sequences: pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    update: async () => {
      if (trainer.preferenceStep === undefined) throw trainerLacks(run.plan, "preferenceStep");
      return trainer.preferenceStep(pairs, { ...schedule, beta, loss, labelSmoothing });
    },
  };
}

function settingsOf({ sft, dpo }: Plan) {
  const settings = dpo ?? sft;
  if (settings === undefined) throw new Error("The plan names no examples.");
  return settings;
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length;
}
