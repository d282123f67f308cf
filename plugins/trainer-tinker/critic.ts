import { statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CriticModel,
  EverturnError,
  type ModelConfig,
  parseModelConfig,
  persistently,
  randomModelWeights,
  readCritic,
  readModelConfig,
  readVocabulary,
  readWeights,
  type TrainerFolders,
  type TrainerState,
  usualThreads,
  wholeCritic,
  writeCritic,
} from "everturn/engine";
import { optimizerNumbers, type ServerTrainerConfig } from "./settings.ts";

/** A critic that trains here, next to the policy on the server. */
export interface LocalCritic {
  /** Reads or creates the critic at its first use. */
  model(): Promise<CriticModel>;
  /** Writes the critic into a state folder, unless there is none yet. */
  save(folder: string): Promise<void>;
}

/** A critic's config.json, and how its state is read or created. */
interface CriticSource {
  text: string;
  state: () => Promise<TrainerState>;
}

/** The critic's config.json in a state folder. */
const configFile = "critic-config.json";

/** The shape of a critic with random weights: that of `criticArchitecture`, otherwise this one. */
const usualShape = {
  model_type: "llama",
  hidden_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 512,
};

/**
 * Opens the critic of a version: the one in its state folder, otherwise a new one, which knows nothing of values yet.
 * Throws TINKER_CRITIC_UNFIT if a pretrained critic reads other tokens than the policy.
 */
export async function openCritic(
  folders: TrainerFolders,
  config: ServerTrainerConfig,
  seed: number,
): Promise<LocalCritic> {
  const saved = folders.state === undefined ? undefined : await savedCritic(folders.state);
  const { text, state: read } = saved ?? (await newCritic(folders.initial, config, seed));
  const model = parseModelConfig(text, configFile);
  let state: Promise<TrainerState> | undefined;
  const opened = () => {
    state ??= read();
    return state;
  };
  const { beta1, beta2, weightDecay, gradientClip = 1 } = optimizerNumbers(config);
  return {
    model: async () => ({
      config: model,
      state: await opened(),
      threads: usualThreads(model, 2),
      gradientClip,
      weightDecay,
      betas: [beta1, beta2],
    }),
    async save(folder) {
      if (saved === undefined && state === undefined) return;
      await writeCritic(folder, await opened());
      await persistently(() => writeFile(join(folder, configFile), text));
    },
  };
}

async function savedCritic(folder: string): Promise<CriticSource | undefined> {
  const file = join(folder, configFile);
  const found = await persistently(() => statSync(file, { throwIfNoEntry: false }));
  if (found === undefined) return undefined;
  return {
    text: await persistently(() => readFile(file, "utf8")),
    state: async () => {
      const state = await readCritic(folder);
      if (state !== undefined) return state;
      throw new EverturnError("TRAINING_STATE_INVALID", { reason: `${folder} lacks the critic's weights` });
    },
  };
}

async function newCritic(
  initial: string,
  { criticModel: pretrained, criticArchitecture }: ServerTrainerConfig,
  seed: number,
): Promise<CriticSource> {
  const policy = await readModelConfig(join(initial, "config.json"));
  if (pretrained !== undefined) {
    const text = await persistently(() => readFile(join(pretrained, "config.json"), "utf8"));
    const config = parseModelConfig(text, join(pretrained, "config.json"));
    await checkTokens(pretrained, config, initial);
    return { text, state: async () => wholeCritic(config, await readWeights(pretrained)) };
  }
  const text = JSON.stringify({
    ...usualShape,
    max_position_embeddings: policy.max_position_embeddings,
    ...criticArchitecture,
    vocab_size: policy.vocab_size,
  });
  const config = parseModelConfig(text, "trainer.config.criticArchitecture");
  return { text, state: async () => wholeCritic(config, randomModelWeights(config, seed)) };
}

/** Throws unless each token of the policy means the same to the critic. */
async function checkTokens(folder: string, { vocab_size }: ModelConfig, initial: string): Promise<void> {
  const unfit = (reason: string) => new EverturnError("TINKER_CRITIC_UNFIT", { folder, reason });
  const { tokens } = await readVocabulary(initial);
  const { tokens: own } = await readVocabulary(folder);
  const different = tokens.findIndex((token, id) => own[id] !== token);
  if (different < 0 && tokens.length <= vocab_size) return;
  if (different < 0) throw unfit(`it has ${vocab_size} tokens, and the policy has ${tokens.length}`);
  const texts = [own[different], tokens[different]].map((token) => JSON.stringify(token ?? ""));
  throw unfit(`token ${different} is ${texts[0]}, but ${texts[1]} in the policy`);
}
