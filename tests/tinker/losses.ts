import { join } from "node:path";
import { TinkerClient, type TinkerModel, type TinkerSession } from "@everturn/tinker";
import { readAdapter, readSafetensors, type Tensor } from "everturn/engine";
import onnx from "../../plugins/trainer-onnx/index.ts";
import tinker from "../../plugins/trainer-tinker/index.ts";
import { readPointer, writePolicy } from "../../plugins/trainer-tinker/policy-files.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import type { MaskedTokens } from "../../src/contracts/policy.ts";
import type { Trainer, TrainerFolders } from "../../src/contracts/trainer.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";
import {
  downloadAdapter,
  largestDifference,
  lora,
  normOf,
  plus,
  relativeDifference,
  withSharedInputs,
  writeAdapterVersion,
} from "./adapters.ts";
import { type Batch, batchOf, batchSize, type LossCase, type Losses, randomSequences } from "./loss-cases.ts";
import { startProportionalSteps } from "./proportional-steps.ts";

/** Differences between `trainer-tinker` on a server and `trainer-onnx`, relative to the latter's numbers. */
export interface LossDifference {
  loss: number;
  /** Of the action tokens, before and after a step along the gradient. */
  logProbabilities: number;
  /** Of the adapter's matrices: the largest in a matrix, relative to the matrix's largest number. */
  gradients: number;
}

/** Adam's decay rate of the mean gradient, in `trainer-onnx`. */
const firstBeta = 0.9;

/** The surroundings of both trainers. */
export const surroundings = {
  groupSize: 4,
  batchSize,
  staleness: 0,
  policy: { pretrained: true, restrictions: [] },
};

/**
 * Makes one update of each case on the same batch from the same adapter, with both trainers. The server serves the model in
 * `initial`. Files go to `work`.
 */
export async function compareLosses(
  cases: readonly LossCase[],
  options: { url: string; initial: string; vocabulary: number; work: string; note: (text: string) => void },
): Promise<Record<string, LossDifference>> {
  const { url, initial, vocabulary, work, note } = options;
  const client = new TinkerClient({ baseUrl: url, apiKey: "tml-local", deduplicates: true });
  const session = await client.createSession();
  const steps = await startProportionalSteps(url);
  const differences: Record<string, LossDifference> = {};
  try {
    const place: Place = { client, session, initial, work, url, steps };
    const sequences = randomSequences(vocabulary, batchSize, "trajectories");
    await makeVersions(place, randomSequences(vocabulary, batchSize, "earlier"));
    const batch = await localBatch(foldersOf(place, "onnx"), localConfig({}), sequences);
    for (const one of cases) {
      const difference = await compare(place, one, batch);
      differences[one.name] = difference;
      const { loss, logProbabilities, gradients } = difference;
      const numbers = [loss, logProbabilities, gradients].map((value) => value.toExponential(1));
      note(`${one.name}: loss ${numbers[0]}, log-probabilities ${numbers[1]}, gradients ${numbers[2]}`);
    }
  } finally {
    await steps.close();
    session.close();
  }
  return differences;
}

/** Where things are. */
interface Place {
  client: TinkerClient;
  session: TinkerSession;
  initial: string;
  work: string;
  url: string;
  steps: Awaited<ReturnType<typeof startProportionalSteps>>;
}

/** The folders of a trainer that starts from the version `start`, with `reference` as the reference. */
export function foldersOf(
  { initial, work }: Pick<Place, "initial" | "work">,
  kind: "onnx" | "tinker",
): TrainerFolders {
  const at = (version: string) => join(work, `${version}-${kind}`);
  return { initial, policy: at("start"), reference: at("reference") };
}

/** Makes the versions `reference` and `start` on the server, both with trained matrices, and their copies for `trainer-onnx`. */
async function makeVersions(place: Place, sequences: readonly MaskedTokens[]): Promise<void> {
  const { client, session, initial, work, url } = place;
  const model = await session.createModel({ baseModel: initial, lora: { rank: lora.rank, seed: 1 } });
  const data = sequences.map(({ tokens }) => ({
    input: tokens.slice(0, -1),
    lossInputs: { target_tokens: tokens.slice(1), weights: tokens.slice(1).map(() => 1) },
  }));
  for (const version of ["reference", "start"]) {
    await model.forwardBackward(data, "cross_entropy");
    await model.optimStep({ learningRate: 0.01 });
    const { path } = await model.saveWeights(version);
    const pointer = { server: "skyrl-jax", url, baseModel: initial, path };
    await writePolicy(join(work, `${version}-tinker`), initial, pointer);
    const matrices = await downloadAdapter(client, model, join(work, `${version}-peft`));
    await writeAdapterVersion(join(work, `${version}-onnx`), initial, matrices);
  }
  await model.unload();
}

/** A batch whose recorded log-probabilities are near those of the version `start`. */
export async function localBatch(
  folders: TrainerFolders,
  config: JsonObject,
  sequences: readonly MaskedTokens[],
): Promise<Batch> {
  const trainer = await onnx.open(folders, config, 1);
  const scores: number[][] = [];
  for (const sequence of sequences) scores.push(await scoresOf(trainer, [sequence]));
  const references = await scorer(trainer)([...sequences], "reference");
  await trainer.close();
  return batchOf(sequences, scores, references);
}

async function compare(place: Place, one: LossCase, batch: Batch): Promise<LossDifference> {
  const { client, session, initial, work, steps } = place;
  const folder = join(work, one.name.replaceAll(" ", "-"));
  const plugin = await lossPlugin(one);
  const { trajectories } = batch;

  const localCritic = one.hasCritic ? { critic: "model" } : {};
  const localSettings = localConfig({ ...one.config, ...localCritic });
  const local = await onnx.open(foldersOf(place, "onnx"), localSettings, 1, plugin);
  const expected = { before: await scoresOf(local, trajectories), metrics: await one.step(local, batch) };
  await local.save(join(folder, "policy"), join(folder, "state"));
  await local.close();
  const own = await gradientIn(join(folder, "state"));
  const gradient = one.family === "qwen3" ? withSharedInputs(own) : own;
  const { tensors: start } = await readAdapter(join(work, "start-peft"));
  // As far as the adapter is long: what rounding takes from the difference is then small in every matrix.
  const factor = normOf(start) / normOf(gradient);
  const policy = join(folder, "moved");
  await writeAdapterVersion(policy, initial, plus(start, gradient, -factor));
  const expectedAfter = await localScores({ initial, policy }, localConfig({}), batch);

  steps.factor = factor;
  const critic = one.hasCritic ? { criticModel: initial } : {};
  const config = remoteConfig({ ...one.config, ...critic }, { url: steps.url, baseModel: initial });
  const remote = await tinker.open(foldersOf(place, "tinker"), config, 1, plugin);
  const before = await scoresOf(remote, trajectories);
  const metrics = await one.step(remote, batch);
  const after = await scoresOf(remote, trajectories);
  await remote.save(join(folder, "remote-policy"), join(folder, "remote-state"));
  const pointer = await readPointer(join(folder, "remote-policy"));
  const model = await loaded(session, initial, String(pointer?.path));
  const moved = await downloadAdapter(client, model, join(folder, "remote-peft"));
  await model.unload();
  await remote.close();

  const measured = plus(start, moved, -1);
  const scaled = new Map([...gradient].map(([name, tensor]) => [name, times(tensor, factor)]));
  return {
    loss: lossDifference(metrics, expected.metrics),
    logProbabilities: Math.max(
      relativeDifference(before, expected.before),
      relativeDifference(after, expectedAfter),
    ),
    gradients: largestDifference(measured, scaled),
  };
}

/**
 * Advantages of a group cancel each other, so a loss may be far smaller than its terms. Differences of smaller losses are relative to
 * this number.
 */
const smallestLoss = 0.01;

/** The largest difference of the loss and of its other terms, each relative to its number. */
export function lossDifference(metrics: Losses, expected: Losses): number {
  const differences = (["loss", "policyLoss", "valueLoss", "kl"] as const).flatMap((name) => {
    const [value, other] = [metrics[name], expected[name]];
    if (value === undefined && other === undefined) return [];
    const [own = Number.NaN, size = Number.NaN] = [value, other];
    return [Math.abs(own - size) / Math.max(smallestLoss, Math.abs(size))];
  });
  return Math.max(...differences);
}

/** The log-probability of each action token under the current policy. */
export async function scoresOf(trainer: Trainer, sequences: readonly MaskedTokens[]): Promise<number[]> {
  const single = sequences.flatMap(({ tokens, mask }) =>
    mask.flatMap((marked, at) =>
      marked === 1 ? [{ tokens, mask: mask.map((_, index) => Number(index === at)) }] : [],
    ),
  );
  return scorer(trainer)(single, "policy");
}

function scorer(trainer: Trainer): NonNullable<Trainer["score"]> {
  if (trainer.score === undefined) throw new Error("the trainer scores nothing");
  return trainer.score.bind(trainer);
}

/** The same in `trainer-onnx`. */
export async function localScores(
  folders: TrainerFolders,
  config: JsonObject,
  { trajectories }: Batch,
): Promise<number[]> {
  const trainer = await onnx.open(folders, config, 1);
  const scores = await scoresOf(trainer, trajectories);
  await trainer.close();
  return scores;
}

/** The gradient of a state after one update: Adam's first moment, without its factor. */
export async function gradientIn(state: string): Promise<Map<string, Tensor>> {
  const moments = await readSafetensors(join(state, "optimizer.safetensors"));
  const first = [...moments].filter(([name]) => name.startsWith("first/") && name.includes(".lora_"));
  return new Map(
    first.map(([name, tensor]) => [name.slice("first/".length), times(tensor, 1 / (1 - firstBeta))]),
  );
}

function times({ shape, data }: Tensor, factor: number): Tensor {
  return { shape, data: data.map((value) => factor * value) };
}

async function loaded(session: TinkerSession, baseModel: string, path: string): Promise<TinkerModel> {
  const model = await session.createModel({ baseModel, lora: { rank: lora.rank, seed: 1 } });
  await model.loadWeights(path, { optimizer: false });
  return model;
}

export async function lossPlugin({ loss }: LossCase) {
  if (loss === undefined) return undefined;
  const pipeline = join(import.meta.dirname, "../../pipelines/calculator.yaml");
  const overrides = [
    "trainer.config.algorithm=dr-grpo",
    "rollout.groupSize=2",
    `trainer.loss={plugin: ${loss}}`,
  ];
  return (await loadPlan(pipeline, { overrides })).trainer.loss;
}

/** Settings of both trainers. */
export const commonSettings = { minibatchSize: batchSize, warmupSteps: 1, learningRate: 1e-4 };

/** The settings of `trainer-onnx`, with an adapter like the server's. */
export function localConfig(config: JsonObject, adapter = lora): JsonObject {
  // Its algorithm has to be one that the server has, too.
  const own = {
    algorithm: "grpo",
    ...commonSettings,
    ...config,
    lora: adapter,
    threads: 1,
    gradientClip: 1e30,
  };
  return onnx.resolve!(own, surroundings).config;
}

function remoteConfig(
  config: JsonObject,
  { url, baseModel }: { url: string; baseModel: string },
): JsonObject {
  const server = { server: "skyrl-jax", url, baseModel, lora: { rank: lora.rank } };
  return tinker.resolve!({ ...commonSettings, ...config, ...server }, surroundings).config;
}
