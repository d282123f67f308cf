import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRemoteTrainer,
  EverturnError,
  loadLoss,
  pluginSteps,
  type RemoteTrainerOptions,
  readModelConfig,
  type ServerStep,
  type Trainer,
  type TrainerFolders,
  type TrainerPlugin,
  type TrainingSettings,
  usesClippedLoss,
} from "everturn/engine";
import { openCritic } from "./critic.ts";
import { readPointer, readState, writeAdapter, writePolicy, writeState } from "./policy-files.ts";
import { probeServer } from "./probe.ts";
import { profiles, type ServerProfile } from "./profiles.ts";
import { remoteModel } from "./remote-model.ts";
import type { ModelServer, ServerModel } from "./server-model.ts";
import { optimizerNumbers, type ServerTrainerConfig, trainingSettings } from "./settings.ts";
import { trainedModel } from "./trained-model.ts";

/** A trainer's inputs, and the server that it trains on. */
interface TrainerParts {
  server: ModelServer;
  folders: TrainerFolders;
  config: ServerTrainerConfig;
  seed: number;
  loss: Parameters<TrainerPlugin["open"]>[3];
}

/**
 * Opens a trainer on a server. Confirms the server's profile first. Then it loads the version's checkpoint into a new
 * model, with the optimizer's state if there is one. So an attempt never depends on what an earlier one left behind: a
 * step that was interrupted anywhere, or that the server forgot or rolled back, is repeated from the version before it.
 * The same holds for the critic, which is read from the state of the same version.
 *
 * Throws TINKER_SERVER_REFUSED, TINKER_CRITIC_UNFIT, TINKER_PROFILE_MISMATCH and TINKER_VOCABULARY_UNFIT.
 */
export async function openTrainer({ server, folders, config, seed, loss }: TrainerParts): Promise<Trainer> {
  const known = profiles[config.server];
  checkProfile(known);
  const modelConfig = await readModelConfig(join(folders.initial, "config.json"));
  const lossFunction = loss && (await loadLoss(loss));
  const settings: TrainingSettings = {
    ...trainingSettings(config),
    ...(lossFunction && { loss: (tokens) => lossFunction(tokens, loss.config) }),
  };
  const critic = settings.critic === "model" ? await openCritic(folders, config, seed) : undefined;
  const profile = await confirmed(known, settings, server, modelConfig.vocab_size);
  const pointer = await readPointer(folders.policy);
  const saved = folders.state === undefined ? undefined : await readState(folders.state, pointer);
  const trained = trainedModel(profile, server, await opened(server, pointer?.path, saved !== undefined));
  let reference: Promise<ServerModel> | undefined;
  const openReference = () => {
    reference ??= readPointerOf(folders.reference).then((found) => opened(server, found?.path, false));
    return reference;
  };
  const state: RemoteTrainerOptions["state"] = saved?.counters ?? { updates: 0, policyGradientSteps: 0 };
  const trainer = createRemoteTrainer({
    model: remoteModel({
      profile,
      model: trained.current,
      reference: openReference,
      optimizer: optimizerNumbers(config),
      callTokens: config.callTokens,
    }),
    config: modelConfig,
    state,
    settings,
    seed,
    ...(critic && { openCritic: critic.model }),
    ...(folders.failures !== undefined && { failures: folders.failures }),
  });
  let step: ServerStep | undefined;
  return {
    ...pluginSteps(trainer, () => state.updates),
    async save(policyFolder, stateFolder) {
      const { path, loaded, ...calls } = await trained.save(`update-${state.updates}`);
      const { server: name, url, baseModel, lora } = config;
      await writePolicy(policyFolder, folders.initial, { server: name, url, baseModel, path, lora });
      if (config.downloadAdapter === true) await publishAdapter(server, path, policyFolder, folders.initial);
      await writeState(stateFolder, { counters: state, ...calls });
      await critic?.save(stateFolder);
      step = { url, model: calls.model, requests: calls.numbers, loaded, checkpoint: path };
    },
    serverStep: () => step,
    async close() {
      await server.close(); // ends a call that is being made
      await trainer.close();
    },
  };
}

/** Throws TINKER_SERVER_REFUSED for a server on which no gradient is exact. */
function checkProfile({ title, refusal }: ServerProfile): void {
  if (refusal !== undefined)
    throw new EverturnError("TINKER_SERVER_REFUSED", { server: title, reason: refusal });
}

/** Probes a server. The clipped loss remains in the profile if it is right, and if these settings use it. */
async function confirmed(
  { clippedLoss, ...others }: ServerProfile,
  settings: TrainingSettings,
  server: ModelServer,
  vocabulary: number,
): Promise<ServerProfile> {
  const isUsed = clippedLoss !== undefined && usesClippedLoss(settings);
  const model = await server.create();
  const profile = await probeServer(
    { profile: isUsed ? { ...others, clippedLoss } : others, model },
    vocabulary,
  );
  await model.unload();
  return profile;
}

/** Writes the adapter of a saved version into the version's folder. */
async function publishAdapter(
  server: ModelServer,
  path: string,
  policyFolder: string,
  initial: string,
): Promise<void> {
  const downloaded = await mkdtemp(join(tmpdir(), "everturn-adapter-"));
  try {
    await server.download(path, downloaded);
    await writeAdapter(policyFolder, initial, downloaded);
  } finally {
    await rm(downloaded, { recursive: true, force: true });
  }
}

function opened(server: ModelServer, path: string | undefined, optimizer: boolean): Promise<ServerModel> {
  return path === undefined ? server.create() : server.load(path, optimizer);
}

async function readPointerOf(folder: string | undefined) {
  return folder === undefined ? undefined : readPointer(folder);
}
