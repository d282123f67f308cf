// The server is small and follows what SkyRL 0.4.0 publishes (tests/support/tinker-server.ts). No published server runs.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readAdapter } from "everturn/engine";
import { expect, onTestFinished, test } from "vitest";
import plugin from "../../../../plugins/trainer-tinker/index.ts";
import { resolveTraining } from "../../../../plugins/trainer-tinker/settings.ts";
import { writeAdapter } from "../../../../src/engine/models/weights/adapter-folder.ts";
import { openPolicyWeights } from "../../../../src/engine/models/weights/policy-weights.ts";
import { serveArithmetic } from "../../../support/served-arithmetic.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { Refusal } from "../../../support/tinker-server/refusal.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { surroundings } from "../../../support/training-batch.ts";

const readsFolders = { ...surroundings, policy: { pretrained: true, restrictions: [] } };

/** An archive as SkyRL packs it. Its configuration names no layers. */
async function archive(): Promise<Uint8Array> {
  const [folder, file] = [join(temporaryFolder(), "adapter"), join(temporaryFolder(), "adapter.tar.gz")];
  mkdirSync(folder);
  const matrix = (...shape: [number, number]) => ({ shape, data: new Float32Array(16).fill(0.5) });
  const module = "model.layers.0.self_attn.q_proj";
  const tensors = new Map([
    [`${module}.lora_A.weight`, matrix(2, 8)],
    [`${module}.lora_B.weight`, matrix(8, 2)],
  ]);
  await writeAdapter(folder, { rank: 2, alpha: 32, targets: [], base: "tiny" }, tensors);
  execFileSync("tar", ["-czf", file, "-C", folder, "."]);
  return readFileSync(file);
}

/** A trainer whose policy reads weights from folders, and the folder for its versions. */
async function opened(download?: () => Uint8Array) {
  const folder = temporaryFolder();
  const initial = join(folder, "initial");
  const vocabulary = await writeTinyPolicy(initial);
  const bytes = await archive();
  const { server } = await serveArithmetic("skyrl-jax", vocabulary, { archive: download ?? (() => bytes) });
  onTestFinished(() => server.stop());
  const given = { server: "skyrl-jax", url: server.url, baseModel: "tiny" };
  const { config } = resolveTraining(given, readsFolders);
  const trainer = await plugin.open({ initial, policy: initial }, config, 1);
  onTestFinished(() => trainer.close());
  return { server, trainer, initial, policy: join(folder, "policy"), state: join(folder, "state") };
}

test("a version has its adapter, over version 0's weights, and the server keeps nothing for it", async () => {
  const { server, trainer, initial, policy, state } = await opened();
  const models = server.models.size;
  await trainer.save(policy, state);
  const { config, tensors } = await readAdapter(policy);
  expect(config).toMatchObject({ rank: 2, alpha: 32, base: "../initial", targets: ["q_proj"] });
  expect(tensors.size).toBe(2);
  expect(readdirSync(policy)).toContain("tinker.json");
  const [plain, adapted] = [await openPolicyWeights(initial), await openPolicyWeights(policy)];
  expect([...adapted.keys()].sort()).toEqual([...plain.keys()].sort());
  expect(server.models.size).toBe(models);
  const left = [...server.checkpoints.keys()].map((path) => path.split("/").slice(-2).join("/"));
  expect(left).toContain("weights/update-0");
  expect(left).not.toContain("sampler_weights/export");
});

test("a download that fails is repeated with its step", async () => {
  const { trainer, policy, state } = await opened(() => {
    throw new Refusal(400, "Model model_1 not loaded");
  });
  const failed = trainer.save(policy, state);
  await expect(failed).rejects.toMatchObject({ code: "TINKER_MODEL_LOST", retryable: true });
});

test("a policy that reads weights from folders needs a server that offers adapters", async () => {
  const problemsOf = async (server: string, near: typeof surroundings, more = {}) => {
    const given = { server, url: "http://127.0.0.1:1", baseModel: "tiny", ...more };
    const problems = (await plugin.check?.(resolveTraining(given, near).config, near)) ?? [];
    return problems.map(({ key, reason }) => `${key} ${reason}`);
  };
  const around = { ...readsFolders, policy: { ...readsFolders.policy, trainers: [] } };
  expect(await problemsOf("tuft", around)).toEqual([
    "server is tuft, which offers no adapters for download, but the policy reads weights from the folders of versions",
  ]);
  expect(await problemsOf("skyrl-torch", around)).toEqual([]);
  expect(await problemsOf("tuft", around, { downloadAdapter: false })).toEqual([]);
  expect(await problemsOf("tuft", surroundings)).toEqual([]);
});
