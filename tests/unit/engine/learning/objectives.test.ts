import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import type { PreferenceSettings } from "../../../../src/contracts/trainer.ts";
import { type Aggregation, aggregationWeights } from "../../../../src/engine/learning/aggregation.ts";
import type { ImportanceCorrection } from "../../../../src/engine/learning/importance-correction.ts";
import { importanceWeights } from "../../../../src/engine/learning/importance-correction.ts";
import {
  joined,
  type Objective,
  objectiveFeeds,
  objectiveInputShapes,
  type PolicyOutputs,
  type TrainingSample,
} from "../../../../src/engine/learning/objective.ts";
import {
  type PolicyObjectiveSettings,
  policyObjective,
} from "../../../../src/engine/learning/policy-objective.ts";
import { preferenceObjective } from "../../../../src/engine/learning/preference-objective.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { readSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { tokenDistribution } from "../../../../src/engine/onnx/token-distribution.ts";
import softGate from "../../../plugins/loss-soft-gate/index.ts";
import { relativeError } from "../../torch-fixtures.ts";

interface Case extends Partial<PolicyObjectiveSettingsOfCase> {
  kind?: "supervised" | "preference";
  preference?: Partial<PreferenceSettings>;
  aggregation?: Aggregation;
  lengthConstant?: number;
  advantages?: "sequence";
  klCoefficient?: number;
  importanceCorrection?: ImportanceCorrection;
}
type PolicyObjectiveSettingsOfCase = Omit<PolicyObjectiveSettings, "loss"> & { loss: string };

const folder = join(import.meta.dirname, "../../../fixtures/algorithms");
const { counts, cases }: { counts: number[]; cases: { name: string; loss: number; settings: Case }[] } =
  JSON.parse(await readFile(join(folder, "losses.json"), "utf8"));
const tensors = await readSafetensors(join(folder, "losses.safetensors"));
const vocabulary = tensors.get("logits")!.shape[1]!;

/** A part of a tensor for each sequence. */
function bySequence(name: string, width = 1): Float32Array[] {
  let start = 0;
  return counts.map((count) => {
    const part = tensors.get(name)!.data.subarray(start * width, (start + count) * width);
    start += count;
    return part;
  });
}

function objectiveOf({ kind, preference, advantages: _, loss, ...settings }: Case): Objective {
  if (kind === "supervised") return supervisedObjective;
  if (kind === "preference") return preferenceObjective(preference);
  const clips = { ratio: "token", clipLow: 0.2, clipHigh: 0.2, entropyCoefficient: 0 } as const;
  const custom = {
    loss: (given: Parameters<typeof softGate>[0]) => softGate(given, { positive: 1, negative: 1.05 }),
  };
  return policyObjective({ ...clips, ...settings, ...(loss && custom) });
}

/** The sequences of the fixture as samples, with all that objectives read. */
function samplesOf(settings: Case): TrainingSample[] {
  const { aggregation = "token-mean", lengthConstant, importanceCorrection = "none", kind } = settings;
  const isMean = settings.preference?.loss === "ipo";
  const weights = aggregationWeights(counts, aggregation, lengthConstant);
  const shares = aggregationWeights(counts, "token-mean");
  const old = bySequence("oldLogProbabilities");
  const sampled = bySequence("sampledLogProbabilities");
  const named = ["oldLogProbabilities", "referenceLogProbabilities", "oldValues", "returns"];
  const read = named.map((name) => [name, bySequence(name)] as const);
  const advantages = bySequence(
    settings.advantages === "sequence" ? "sequenceAdvantages" : "tokenAdvantages",
  );
  const samples = counts.map((count, index): TrainingSample => {
    const range = { minimum: 0.5, maximum: 1.5 };
    const importance = importanceWeights(old[index]!, sampled[index]!, importanceCorrection, range);
    return {
      sequences: [{ tokens: Array(count + 1).fill(0), mask: [0, ...Array(count).fill(1)] }],
      columns: {
        ...Object.fromEntries(read.map(([name, parts]) => [name, parts[index]!])),
        advantages: advantages[index]!,
        weights: weights[index]!,
        policyWeights: weights[index]!.map((weight, at) => weight * importance[at]!),
        shares: shares[index]!,
        sampleShares: new Float32Array(count).fill(1 / count),
        signs: new Float32Array(count).fill((index % 2 === 0 ? 1 : -1) / (isMean ? count : 1)),
      },
    };
  });
  return kind === "preference" ? pairs(samples) : samples;
}

function pairs(samples: TrainingSample[]): TrainingSample[] {
  const chosen = samples.filter((_, index) => index % 2 === 0);
  return chosen.map((one, index) => {
    const other = samples[2 * index + 1]!;
    const columns = Object.fromEntries(
      Object.entries(one.columns).map(([name, data]) => [name, joined([data, other.columns[name]!])]),
    );
    const actions = columns.signs!.length;
    columns.pairWeights = new Float32Array(actions).fill(1 / (chosen.length * actions));
    return { sequences: [...one.sequences, ...other.sequences], columns };
  });
}

/** The loss of samples, and its gradient with respect to the logits [actions, vocabulary]. */
async function lossOf(
  objective: Objective,
  parts: readonly (readonly TrainingSample[])[],
  klCoefficient: number,
) {
  const graph = createGraph();
  const logits = graph.input("logits", "float32", ["actions", vocabulary]);
  const targets = graph.input("targets", "int64", ["actions"]);
  const inputs = Object.entries(objective.inputs).map(
    ([name, kind]) => [name, graph.input(name, "float32", objectiveInputShapes[kind])] as const,
  );
  const then = new Map(inputs);
  const { logProbabilities, entropies } = tokenDistribution(logits, targets);
  const values = graph.input("values", "float32", ["actions"]);
  const now = defined<PolicyOutputs>({
    logProbabilities,
    entropies: objective.wants.entropies ? entropies : undefined,
    values: objective.wants.values ? values : undefined,
  });
  const { loss } = objective.build(now, (name) => then.get(name)!);
  graph.output("loss", loss);
  graph.output("gradient", gradients(loss, [logits])[0]!);
  const session = await createModelSession(modelBytes(graph));
  let start = 0;
  const losses: number[] = [];
  const slopes: Float32Array[] = [];
  for (const samples of parts) {
    const count = samples.flatMap(({ columns }) => [...columns.signs!]).length;
    const slice = (name: string, width = 1) =>
      tensors.get(name)!.data.slice(start * width, (start + count) * width);
    const outputs = await session.run({
      logits: { shape: [count, vocabulary], data: slice("logits", vocabulary) },
      targets: { shape: [count], data: BigInt64Array.from(slice("targets"), BigInt) },
      values: { shape: [count], data: slice("values") },
      ...objectiveFeeds(objective, samples, { klCoefficient }),
    });
    losses.push(outputs.floats("loss")[0]!);
    slopes.push(outputs.floats("gradient"));
    start += count;
  }
  await session.close();
  return { loss: losses.reduce((sum, one) => sum + one, 0), gradient: joined(slopes) };
}

test.each(cases)(
  "$name: loss and gradient are those of TRL's or verl's formulas",
  async ({ name, loss, settings }) => {
    const objective = objectiveOf(settings);
    const samples = samplesOf(settings);
    const whole = await lossOf(objective, [samples], settings.klCoefficient ?? 0);
    expect(Math.abs(whole.loss - loss) / Math.max(1, Math.abs(loss))).toBeLessThan(1e-5);
    const expected = tensors.get(`gradient.${name}`)!.data;
    expect(relativeError(whole.gradient, expected)).toBeLessThan(1e-4);

    const split = await lossOf(
      objective,
      [samples.slice(0, 3), samples.slice(3)],
      settings.klCoefficient ?? 0,
    );
    expect(split.loss).toBeCloseTo(whole.loss, 5);
    expect(relativeError(split.gradient, whole.gradient)).toBeLessThan(1e-5);
  },
);

test("an objective computes nothing that it doesn't want", () => {
  const plain = { ratio: "token", clipLow: 0.2, clipHigh: 0.2, entropyCoefficient: 0 } as const;
  const { inputs, wants } = policyObjective(plain);
  expect(wants).toEqual({ values: false, entropies: false });
  expect(Object.keys(inputs).sort()).toEqual([
    "advantages",
    "oldLogProbabilities",
    "policyWeights",
    "shares",
  ]);
  expect(policyObjective({ ...plain, ratio: "sequence" }).inputs).toMatchObject({ membership: "membership" });
  expect(policyObjective({ ...plain, kl: "k2" }).inputs).toMatchObject({
    referenceLogProbabilities: "token",
    klCoefficient: "scalar",
  });
  expect(policyObjective({ ...plain, loss: ({ entropies }) => entropies }).wants.entropies).toBe(true);
});
