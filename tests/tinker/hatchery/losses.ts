import { copyFileSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Datum, TinkerClient } from "@everturn/tinker";
import onnx from "../../../plugins/trainer-onnx/index.ts";
import tinker from "../../../plugins/trainer-tinker/index.ts";
import { writePolicy } from "../../../plugins/trainer-tinker/policy-files.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import { largestDifference, lora, relativeDifference, writeAdapterVersion } from "../adapters.ts";
import { type Batch, batchSize, type LossCase, randomSequences } from "../loss-cases.ts";
import {
  commonSettings,
  foldersOf,
  gradientIn,
  type LossDifference,
  localBatch,
  localConfig,
  localScores,
  lossDifference,
  lossPlugin,
  scoresOf,
  surroundings,
} from "../losses.ts";
import { wayTo } from "../way.ts";
import { type HatcheryServer, key } from "./hatchery.ts";
import { readCheckpoint, readStored } from "./stored-state.ts";

/** Hatchery's alpha is twice the rank. */
const adapter = { ...lora, alpha: 2 * lora.rank };

/** What Hatchery's own arithmetic leaves open. */
export interface Precision {
  /** Relative differences of log-probabilities and of a step's gradient, computed twice. */
  repeated: { logProbabilities: number; gradients: number };
  /** Of log-probabilities to `trainer-onnx` in float32. */
  logProbabilities: number;
}

interface Options {
  server: HatcheryServer;
  /** The served model. */
  initial: string;
  vocabulary: number;
  work: string;
  note: (text: string) => void;
}

/**
 * Makes one update of each case on the same batch from the same adapter, with `trainer-onnx` in float32 and on Hatchery. Losses,
 * log-probabilities and gradients are compared, and Hatchery's first case with itself.
 */
export async function compareOnHatchery(
  cases: readonly LossCase[],
  options: Options,
): Promise<{ precision: Precision; losses: Record<string, LossDifference> }> {
  const { server, vocabulary, work, note } = options;
  await mkdir(work, { recursive: true });
  process.env[key.variable] = key.value;
  await makeVersions(options);
  const sequences = randomSequences(vocabulary, batchSize, "trajectories");
  const way = await wayTo(server.url);
  const sides: Sides = { ...options, url: way.url, gradient: join(work, "gradient.pt") };
  way.before = (path, body) => {
    if (path === "optim_step")
      copyFileSync(gradientOf(server, JSON.parse(body.toString()).model_id), sides.gradient);
  };
  const losses: Record<string, LossDifference> = {};
  try {
    const batch = await localBatch(foldersOf(options, "onnx"), localSettings({}), sequences);
    const [first] = cases;
    if (first === undefined) throw new Error("there is no case");
    const [once, again] = [await onHatchery(sides, first, batch), await onHatchery(sides, first, batch)];
    const precision = {
      repeated: {
        logProbabilities: relativeDifference(again.scores, once.scores),
        gradients: largestDifference(again.gradient, once.gradient),
      },
      logProbabilities: relativeDifference(
        once.scores,
        await localScores(foldersOf(options, "onnx"), localSettings({}), batch),
      ),
    };
    note(`Hatchery repeats itself within ${JSON.stringify(precision.repeated)}`);
    for (const one of cases) {
      const expected = await onOnnx(options, one, batch);
      const measured = await onHatchery(sides, one, batch);
      const difference = {
        loss: lossDifference(measured.metrics, expected.metrics),
        logProbabilities: relativeDifference(measured.scores, expected.scores),
        gradients: largestDifference(measured.gradient, expected.gradient),
      };
      losses[one.name] = difference;
      const numbers = Object.entries(difference).map(([name, value]) => `${name} ${value.toExponential(1)}`);
      note(`${one.name}: ${numbers.join(", ")}`);
    }
    return { precision, losses };
  } finally {
    await way.close();
  }
}

/** Where the sides are. */
interface Sides extends Options {
  /** A way to the server. */
  url: string;
  /** The file of the gradient before the last optimizer step. */
  gradient: string;
}

/** The file of the gradient that the worker holds, which it writes after each pass. */
function gradientOf({ live }: HatcheryServer, model: string): string {
  const [worker, ...others] = readdirSync(live);
  if (worker === undefined || others.length > 0) throw new Error(`${live} has not exactly one worker`);
  return join(live, worker, "sessions", model, "live_state", "grad_accum.pt");
}

/** Makes the versions `reference` and `start`, each in a model of its own, and their copies for `trainer-onnx`. */
async function makeVersions({ server, initial, vocabulary, work }: Options): Promise<void> {
  const client = new TinkerClient({ baseUrl: server.url, apiKey: key.value });
  const session = await client.createSession();
  const data = randomSequences(vocabulary, batchSize, "earlier").map(
    ({ tokens }): Datum => ({
      input: tokens.slice(0, -1),
      lossInputs: { target_tokens: tokens.slice(1), weights: tokens.slice(1).map(() => 1) },
    }),
  );
  let last: string | undefined;
  for (const version of ["reference", "start"]) {
    const model = await session.createModel({
      baseModel: initial,
      lora: { rank: lora.rank, trainUnembed: false },
    });
    if (last !== undefined) await model.loadWeights(last, { optimizer: true });
    await model.forwardBackward(data, "cross_entropy");
    await model.optimStep({ learningRate: 0.02 });
    const { path } = await model.saveWeights(version);
    await model.unload();
    last = path;
    const pointer = { server: "hatchery", url: server.url, baseModel: initial, path };
    await writePolicy(join(work, `${version}-tinker`), initial, pointer);
    const matrices = await readCheckpoint(server, path, join(work, `${version}-stored`));
    await writeAdapterVersion(join(work, `${version}-onnx`), initial, matrices, adapter);
  }
  session.close();
}

/** One update of `trainer-onnx`. */
async function onOnnx(options: Options, one: LossCase, batch: Batch) {
  const folder = join(options.work, one.name.replaceAll(" ", "-"));
  const trainer = await onnx.open(
    foldersOf(options, "onnx"),
    localSettings(one.config),
    1,
    await lossPlugin(one),
  );
  const scores = await scoresOf(trainer, batch.trajectories);
  const metrics = await one.step(trainer, batch);
  await trainer.save(join(folder, "policy"), join(folder, "state"));
  await trainer.close();
  return { scores, metrics, gradient: await gradientIn(join(folder, "state")) };
}

/** One update on Hatchery. Its trainer probes the server first. */
async function onHatchery(sides: Sides, one: LossCase, batch: Batch) {
  const settings = {
    server: "hatchery",
    url: sides.url,
    baseModel: sides.initial,
    apiKeyVariable: key.variable,
  };
  const given = {
    ...commonSettings,
    ...one.config,
    ...settings,
    lora: { rank: lora.rank },
    gradientClip: 1e30,
  };
  const { config } = tinker.resolve!(given, surroundings);
  const trainer = await tinker.open(foldersOf(sides, "tinker"), config, 1, await lossPlugin(one));
  try {
    const scores = await scoresOf(trainer, batch.trajectories);
    const metrics = await one.step(trainer, batch);
    return { scores, metrics, gradient: await readStored(sides.gradient, join(sides.work, "gradient")) };
  } finally {
    await trainer.close();
  }
}

function localSettings(config: JsonObject): JsonObject {
  return localConfig(config, adapter);
}
