// The servers are small ones in this process. The critic is the plugin's own, on ONNX Runtime.
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonObject, readWeights, type TrainerFolders } from "everturn/engine";
import { expect, test } from "vitest";
import trainerOnnx from "../../../../plugins/trainer-onnx/index.ts";
import { openTrainer } from "../../../../plugins/trainer-tinker/open-trainer.ts";
import { profiles } from "../../../../plugins/trainer-tinker/profiles.ts";
import type { ModelServer } from "../../../../plugins/trainer-tinker/server-model.ts";
import { readConfig, resolveTraining } from "../../../../plugins/trainer-tinker/settings.ts";
import { onnxServer } from "../../../support/onnx-server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { type TinyServer, tinyServer } from "../../../support/tiny-server.ts";
import { surroundings, unevenTrajectories as trajectories } from "../../../support/training-batch.ts";
import { relativeError } from "../../torch-fixtures.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const initial = at("v0000");
const vocabulary = await writeTinyPolicy(initial);

/** The settings of both trainers. */
const ppo = {
  algorithm: "ppo",
  critic: "model",
  learningRate: 0.01,
  valueLearningRate: 0.02,
  warmupSteps: 1,
  minibatchSize: 2,
};
const small = {
  criticArchitecture: { hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 8 },
};
const step = { temperature: 1 };

function serverLikeTinker(): TinyServer {
  return tinyServer({ vocabulary, reduction: profiles.tinker.crossEntropy });
}

function opened(server: ModelServer, changes: JsonObject = {}, folders: Partial<TrainerFolders> = {}) {
  const given = { server: "tinker", url: "http://127.0.0.1:1", baseModel: "tiny", ...ppo, ...changes };
  const { config } = resolveTraining(given, surroundings);
  const all = { initial, policy: initial, ...folders };
  return openTrainer({ server, folders: all, config: readConfig(config), seed: 1, loss: undefined });
}

const foldersOf = (version: string) => ({ policy: at(`${version}-policy`), state: at(`${version}-state`) });

/** The files of the critic that a version's state contains. */
function criticOf(version: string) {
  const { state } = foldersOf(version);
  const names = readdirSync(state).filter((name) => name.startsWith("critic"));
  return new Map(names.map((name) => [name, readFileSync(join(state, name)).toString("latin1")]));
}

async function saved(trainer: Awaited<ReturnType<typeof opened>>, version: string) {
  const { policy, state } = foldersOf(version);
  await trainer.save(policy, state);
}

test("PPO on a server learns what trainer-onnx learns with a critic that is a separate model", async () => {
  const settings = { ...ppo, klCoefficient: 0.1, epochs: 2, minibatchSize: 2 };
  const local = await trainerOnnx.open({ initial, policy: initial, reference: initial }, settings, 1);
  const server = await onnxServer(initial);
  const remote = await opened(server, { ...settings, server: "skyrl-torch", criticModel: initial });
  for (let count = 0; count < 3; count++) {
    const expected = await local.policyGradientStep(trajectories, step);
    const metrics = await remote.policyGradientStep(trajectories, step);
    expect(Object.keys(metrics)).toEqual(Object.keys(expected));
    for (const [key, value] of Object.entries(expected))
      expect(Object(metrics)[key], key).toBeCloseTo(value, 5);
  }
  await saved(local, "local");
  await saved(remote, "remote");
  for (const one of [local, remote]) await one.close();
  const policy = [...server.checkpoints.values()].at(-1)!;
  for (const [name, { data }] of await readWeights(foldersOf("local").policy))
    expect(relativeError(policy.weights.get(name)!.data, data), name).toBeLessThan(1e-5);
  const critic = criticOf("remote");
  expect(critic.delete("critic-config.json")).toBe(true);
  expect(critic, "its values, and so the advantages, are the same bits").toEqual(criticOf("local"));
});

test("saved and opened again, policy and critic continue as if they had never stopped", async () => {
  const server = serverLikeTinker();
  const whole = await opened(server, small);
  await whole.policyGradientStep(trajectories, step);
  await saved(whole, "first");
  const metrics = await whole.policyGradientStep(trajectories, step);
  await saved(whole, "second");
  expect(metrics.valueLearningRate).toBe(0.02);
  const again = await opened(server, small, foldersOf("first"));
  await saved(again, "kept");
  expect(criticOf("kept"), "without a step, the critic stays").toEqual(criticOf("first"));
  expect(await again.policyGradientStep(trajectories, step)).toEqual(metrics);
  await saved(again, "again");
  expect(criticOf("again")).toEqual(criticOf("second"));
  expect(criticOf("again")).not.toEqual(criticOf("first"));
  for (const one of [whole, again]) await one.close();
});

test("after an interruption, policy and critic are those of the same version", async () => {
  const server = serverLikeTinker();
  const newest = () => [...server.checkpoints.values()].at(-1);
  const attempt = async (version: string, from: Partial<TrainerFolders>, onOpened = () => {}) => {
    const trainer = await opened(server, small, from);
    onOpened();
    try {
      const metrics = await trainer.policyGradientStep(trajectories, step);
      await saved(trainer, version);
      return metrics;
    } finally {
      delete server.before;
      await trainer.close();
    }
  };
  await attempt("one", {});
  const metrics = await attempt("undisturbed", foldersOf("one"));
  const weights = newest();
  for (const [name, number] of [
    ["optim_step", 2], // the first update changed both models
    ["save_weights", 1],
  ] as const) {
    let seen = 0;
    const problem = attempt("lost", foldersOf("one"), () => {
      server.before = (call) => {
        if (call.includes(name) && ++seen === number) server.forget();
      };
    });
    await expect(problem).rejects.toMatchObject({ code: "TINKER_MODEL_LOST" });
  }
  expect(await attempt("repeated", foldersOf("one"))).toEqual(metrics);
  expect(newest()).toEqual(weights);
  expect(criticOf("repeated")).toEqual(criticOf("undisturbed"));
});

test("supervised steps make no critic", async () => {
  const trainer = await opened(serverLikeTinker());
  await trainer.supervisedStep([{ tokens: [5, 6, 7], mask: [0, 1, 1] }], { learningRate: 0.1, steps: 2 });
  await saved(trainer, "supervised");
  expect([...criticOf("supervised")]).toEqual([]);
  await trainer.close();
});

test("a critic has the architecture of the configuration, or a pretrained model's", async () => {
  const shapes: Record<string, JsonObject> = {
    usual: {},
    small,
    pretrained: { criticModel: initial },
  };
  const found = [];
  for (const [name, changes] of Object.entries(shapes)) {
    const trainer = await opened(serverLikeTinker(), changes);
    await trainer.policyGradientStep(trajectories, step);
    await saved(trainer, name);
    await trainer.close();
    const text = readFileSync(join(foldersOf(name).state, "critic-config.json"), "utf8");
    const { hidden_size, num_hidden_layers, vocab_size } = JSON.parse(text);
    found.push([hidden_size, num_hidden_layers, vocab_size]);
  }
  expect(found).toEqual([
    [128, 2, vocabulary],
    [16, 1, vocabulary],
    [8, 1, vocabulary],
  ]);
});

test("a critic that reads other tokens is refused when the trainer opens", async () => {
  const other = at("other");
  cpSync(initial, other, { recursive: true });
  const file = join(other, "tokenizer.json");
  const tokenizer = JSON.parse(readFileSync(file, "utf8"));
  const [one, id] = Object.entries<number>(tokenizer.model.vocab)[0]!;
  delete tokenizer.model.vocab[one];
  tokenizer.model.vocab.Ω = id;
  writeFileSync(file, JSON.stringify(tokenizer));
  const problem = opened(serverLikeTinker(), { criticModel: other });
  await expect(problem).rejects.toMatchObject({ code: "TINKER_CRITIC_UNFIT" });
  await expect(problem).rejects.toThrow(`token ${id} is "Ω", but ${JSON.stringify(one)} in the policy`);
});
