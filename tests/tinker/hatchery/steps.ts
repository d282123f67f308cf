import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TinkerClient, TinkerError } from "@everturn/tinker";
import { EverturnError } from "everturn/engine";
import tinker from "../../../plugins/trainer-tinker/index.ts";
import { readPointer } from "../../../plugins/trainer-tinker/policy-files.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import type { Trainer } from "../../../src/contracts/trainer.ts";
import { largestDifference, lora, type Matrices } from "../adapters.ts";
import { type Batch, batchOf, batchSize, randomSequences } from "../loss-cases.ts";
import { commonSettings, surroundings } from "../losses.ts";
import { wayTo } from "../way.ts";
import { type HatcheryServer, key } from "./hatchery.ts";
import { jobChain } from "./job-chain.ts";
import { readCheckpoint } from "./stored-state.ts";

/** What steps on the real server showed. */
export interface StepsReport {
  /** The largest difference of two adapters that the same step made from the same version. */
  repeatability: number;
  /** The same between the step left alone and attempts that something interrupted, by what did. */
  interrupted: Record<string, number>;
  /** The same between a trainer that stays open and one opened for each step. */
  keptOpen: number;
  /** Optimizer steps that the queue contains on the way to any version, more or fewer than there should be. */
  optimizerStepsTwice: number;
  optimizerStepsLost: number;
  /** Loss before and after a few updates. */
  learned: Record<string, { before: number; after: number }>;
  /** What was refused, with the reason. */
  refused: Record<string, string>;
  /** Behavior of Hatchery 0.3.0 that the trainer works around. False: it is no longer needed. */
  facts: Record<string, boolean>;
}

interface Options {
  server: HatcheryServer;
  /** Ends the server's process. It starts again by itself. */
  restart: () => Promise<void>;
  /** The served model. */
  initial: string;
  vocabulary: number;
  work: string;
  note: (text: string) => void;
}

/** Updates of a step. */
const updates = 2;

/** Makes steps on the server: left alone, interrupted, and such as it refuses. */
export async function stepsOnHatchery(options: Options): Promise<StepsReport> {
  const { server, restart, initial, vocabulary, work, note } = options;
  await mkdir(work, { recursive: true });
  process.env[key.variable] = key.value;
  const way = await wayTo(server.url);
  const at = (name: string) => join(work, name);
  const given = {
    ...commonSettings,
    server: "hatchery",
    url: way.url,
    baseModel: initial,
    apiKeyVariable: key.variable,
    lora: { rank: lora.rank },
    algorithm: "grpo",
    learningRate: 0.01,
    minibatchSize: batchSize / updates,
  };
  const configOf = (changes: JsonObject = {}) =>
    tinker.resolve!({ ...given, ...changes }, surroundings).config;
  const foldersOf = (from?: string) => ({
    initial,
    policy: from === undefined ? initial : join(at(from), "policy"),
    ...(from !== undefined && { state: join(at(from), "state") }),
  });
  const save = (trainer: Trainer, to: string) => trainer.save(join(at(to), "policy"), join(at(to), "state"));
  const pathOf = async (version: string) => String((await readPointer(join(at(version), "policy")))?.path);
  const adapterOf = async (version: string) =>
    readCheckpoint(server, await pathOf(version), join(at(version), "stored"));
  const batch = plainBatch(vocabulary);
  const attempt = async (to: string, from?: string) => {
    const trainer = await tinker.open(foldersOf(from), configOf(), 1);
    try {
      await trainer.policyGradientStep(batch.trajectories, { temperature: 1 });
      await save(trainer, to);
    } finally {
      await trainer.close();
    }
  };

  try {
    await attempt("first");
    await attempt("alone", "first");
    await attempt("again", "first");
    const alone = await adapterOf("alone");
    const repeatability = largestDifference(await adapterOf("again"), alone);
    note(`the same step twice differs by ${repeatability}`);

    const interrupted: Record<string, number> = {};
    const versions = ["first", "alone", "again"];
    for (const [name, path, interrupt] of interruptions) {
      let isArmed = true;
      const strike = (called: string) => {
        if (!isArmed || called !== path) return false;
        isArmed = false;
        return true;
      };
      let restarted = Promise.resolve();
      if (interrupt === "restart")
        way.before = (called) => {
          if (strike(called)) restarted = restart();
        };
      else way.isLost = strike;
      const failures = await untilDone(
        () => attempt(name, "first"),
        () => restarted,
      );
      if (failures === 0) throw new Error(`nothing failed at ${name}`);
      way.before = () => {};
      way.isLost = () => false;
      versions.push(name);
      interrupted[name] = largestDifference(await adapterOf(name), alone);
      note(`${name}: ${failures} failed attempt, differs by ${interrupted[name]}`);
    }

    const kept = await tinker.open(foldersOf("first"), configOf(), 1);
    for (const version of ["kept-2", "kept-3"]) {
      await kept.policyGradientStep(batch.trajectories, { temperature: 1 });
      await save(kept, version);
    }
    await kept.close();
    await attempt("alone-3", "alone");
    versions.push("kept-2", "kept-3", "alone-3");
    const keptOpen = Math.max(
      largestDifference(await adapterOf("kept-2"), alone),
      largestDifference(await adapterOf("kept-3"), await adapterOf("alone-3")),
    );
    note(`a trainer that stays open differs by ${keptOpen}`);

    const surplus: number[] = [];
    for (const version of versions)
      for (const { steps } of jobChain(server.queue, await pathOf(version))) surplus.push(steps - updates);
    return {
      repeatability,
      interrupted,
      keptOpen,
      optimizerStepsTwice: surplus.reduce((sum, one) => sum + Math.max(0, one), 0),
      optimizerStepsLost: surplus.reduce((sum, one) => sum + Math.max(0, -one), 0),
      learned: await learning(() => tinker.open(foldersOf("first"), configOf(), 1), batch),
      refused: await refusals({
        configOf,
        given,
        open: () => tinker.open(foldersOf("first"), configOf(), 1),
        batch,
      }),
      facts: await facts(options),
    };
  } finally {
    await way.close();
  }
}

/** What interrupts an attempt: a restart of the server at a call, or the loss of a call's answer. */
const interruptions = [
  ["restart at a pass", "forward_backward_custom_step2", "restart"],
  ["restart at an optimizer step", "optim_step", "restart"],
  ["restart at the save", "save_weights", "restart"],
  ["lost answer of a pass", "forward_backward_custom_step2", "lost"],
  ["lost answer of an optimizer step", "optim_step", "lost"],
  ["lost answer of the save", "save_weights", "lost"],
] as const;

/** Repeats a step while it fails with errors that Everturn repeats. Returns how often it failed. */
async function untilDone(work: () => Promise<void>, restarted: () => Promise<void>): Promise<number> {
  for (let failures = 0; ; failures++) {
    try {
      await work();
      return failures;
    } catch (error) {
      if (!(error instanceof EverturnError) || !error.retryable || failures === 5) throw error;
      await restarted();
    }
  }
}

/** A batch whose recorded log-probabilities are those of a nearly uniform policy. */
function plainBatch(vocabulary: number): Batch {
  const sequences = randomSequences(vocabulary, batchSize, "trajectories");
  const uniform = -Math.log(vocabulary);
  const scores = sequences.map(({ mask }) => mask.filter((marked) => marked === 1).map(() => uniform));
  return batchOf(
    sequences,
    scores,
    scores.map((row) => row.reduce((sum, value) => sum + value, 0)),
  );
}

/** Losses of supervised steps and of preferences before and after a few updates. */
async function learning(open: () => Promise<Trainer>, { trajectories, pairs }: Batch) {
  const measured = async (loss: (trainer: Trainer) => Promise<number>) => {
    const trainer = await open();
    const losses: number[] = [];
    for (let update = 0; update < 6; update++) losses.push(await loss(trainer));
    await trainer.close();
    return { before: losses[0]!, after: losses.at(-1)! };
  };
  const supervised = { learningRate: 0.01, steps: 6 };
  const preference = { ...supervised, beta: 0.1, loss: "sigmoid", labelSmoothing: 0 } as const;
  return {
    sft: await measured(async (trainer) => (await trainer.supervisedStep(trajectories, supervised)).loss),
    dpo: await measured(async (trainer) => (await trainer.preferenceStep!(pairs, preference)).loss),
  };
}

/** What the trainer refuses on Hatchery. */
async function refusals({
  configOf,
  given,
  open,
  batch,
}: {
  configOf: (changes?: JsonObject) => JsonObject;
  given: JsonObject;
  open: () => Promise<Trainer>;
  batch: Batch;
}): Promise<Record<string, string>> {
  const problems = async (changes: JsonObject, around: object = {}) => {
    const found =
      (await tinker.check?.(configOf({ ...given, ...changes }), { ...surroundings, ...around })) ?? [];
    return found.map(({ key: name, reason }) => `${name} ${reason}`).join("; ");
  };
  const trainer = await open();
  const temperature = await trainer.policyGradientStep(batch.trajectories, { temperature: 0.7 }).then(
    () => "",
    (error: Error) => error.message,
  );
  await trainer.close();
  return {
    "learning rate 11": await problems({ learningRate: 11 }),
    "temperature 0.7, before the run": await problems({}, { temperature: 0.7 }),
    "temperature 0.7, in a step": temperature,
  };
}

/** What Hatchery itself does. */
async function facts({ server, initial, work }: Options): Promise<Record<string, boolean>> {
  const client = new TinkerClient({ baseUrl: server.url, apiKey: key.value });
  const session = await client.createSession();
  const model = await session.createModel({ baseModel: initial, lora: { rank: lora.rank } });
  const datum = { input: [5, 6, 7], lossInputs: { target_tokens: [6, 7, 8], weights: [1, 1, 1] } };
  const step = async (seqId?: number) => {
    await model.forwardBackward([datum], "cross_entropy");
    return model.optimStep({ learningRate: 0.05 }, { seqId });
  };
  const saved = async (name: string): Promise<Matrices> => {
    const { path } = await model.saveWeights(name);
    return readCheckpoint(server, path, join(work, "facts", name));
  };
  await step();
  const first = await saved("one");
  await step();
  const second = await saved("two");
  const { metrics } = await model.optimStep({ learningRate: 0.05 }, { seqId: 90 });
  await model.optimStep({ learningRate: 0.05 }, { seqId: 90 });
  const later = await model.optimStep({ learningRate: 0.05 }, { seqId: 91 });
  const refusedRate = async (learningRate: number) =>
    model.optimStep({ learningRate }).then(
      () => false,
      (error) => error instanceof TinkerError && error.status === 422,
    );
  const sampler = await model.sampler();
  const greedy = async () =>
    (await sampler.sample({ prompt: [5, 6, 7], maxTokens: 8 })).sequences[0]?.tokens.join();
  const result = {
    "a second checkpoint repeats the first": largestDifference(second, first) === 0,
    "a repeated number runs again": Number(later.metrics.step) - Number(metrics.step) === 2,
    "a learning rate of 0 is refused": await refusedRate(0),
    "a learning rate above 10 is refused": await refusedRate(10.5),
    "one sample is the likeliest one": new Set([await greedy(), await greedy(), await greedy()]).size === 1,
  };
  await model.unload();
  session.close();
  return result;
}
