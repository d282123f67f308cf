// The server speaks Tinker's wire (tests/support/tinker-server.ts) and answers downloads as SkyRL 0.4.0 does. No
// published server runs.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { registerExport } from "../../../../src/apps/cli/commands/export.ts";
import { readAdapter } from "../../../../src/engine/models/weights/adapter-folder.ts";
import { readWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { writeSafetensors } from "../../../../src/engine/models/weights/safetensors.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { TinkerServer, type TinkerServerOptions } from "../../../support/tinker-server.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { writeVersion } from "../../../support/versions.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

afterEach(() => vi.unstubAllEnvs());

const root = temporaryFolder();
const base = join(root, "base");
await writeTinyPolicy(base);

/** The settings of an adapter as SkyRL 0.4.0 writes them, through PEFT 0.18.1. */
const settings = {
  alora_invocation_tokens: null,
  alpha_pattern: {},
  auto_mapping: null,
  base_model_name_or_path: "tiny",
  bias: "none",
  ensure_weight_tying: false,
  fan_in_fan_out: false,
  inference_mode: false,
  init_lora_weights: true,
  loftq_config: {},
  lora_alpha: 32.0,
  lora_bias: false,
  lora_dropout: 0.0,
  megatron_core: "megatron.core",
  peft_type: "LORA",
  peft_version: "0.18.1",
  qalora_group_size: 16,
  r: 2,
  rank_pattern: {},
  target_modules: null,
  task_type: null,
  use_dora: false,
  use_qalora: false,
  use_rslora: false,
};
const adapter = join(root, "adapter");
mkdirSync(adapter);
writeFileSync(join(adapter, "adapter_config.json"), JSON.stringify(settings));
const adapted = "base_model.model.model.layers.0.self_attn.q_proj";
const matrix = (...shape: [number, number]) => ({
  shape,
  data: Float32Array.from({ length: shape[0] * shape[1] }, (_, at) => (at - 3) / 16),
});
const matrices = new Map([
  [`${adapted}.lora_A.weight`, matrix(2, 8)],
  [`${adapted}.lora_B.weight`, matrix(8, 2)],
]);
await writeSafetensors(join(adapter, "adapter_model.safetensors"), matrices);

/** A folder as SkyRL packs it: the folder itself, then its files. */
function archiveOf(folder: string): () => Uint8Array {
  const file = join(root, "archive.tar.gz");
  execFileSync("tar", ["-czf", file, "-C", folder, "."]);
  const bytes = readFileSync(file);
  return () => bytes;
}

/** A run whose version 1 is on a server. Version 0 has no weights, as `policy-tinker` writes it. */
async function servedRun(offered: Pick<TinkerServerOptions, "archive" | "files">, software = "skyrl-jax") {
  const server = await new TinkerServer({ numbering: "skyrl", ...offered }).start();
  onTestFinished(() => server.stop());
  server.checkpoints.set("tinker://model_1/weights/update-1", {
    modelId: "model_1",
    name: "update-1",
    history: [],
    order: 0,
  });
  const trainer = {
    plugin: "trainer-tinker",
    config: { server: software, url: server.url, baseModel: "tiny", lora: { rank: 2 } },
  };
  const pipeline = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
  const overrides = ["warmStart=null", "rollout.groupSize=2", `trainer=${JSON.stringify(trainer)}`];
  const plan = await loadPlan(pipeline, { overrides });
  const runs = temporaryFolder();
  const run = await openRunFolder(runs, await createRunFolder(plan, { runs }));
  const fill = (named?: object) => async (folder: string) => {
    for (const name of readdirSync(base).filter((one) => one !== "model.safetensors"))
      writeFileSync(join(folder, name), readFileSync(join(base, name)));
    if (named) writeFileSync(join(folder, "tinker.json"), JSON.stringify(named));
  };
  const pointer = { server: software, url: server.url, baseModel: "tiny" };
  await writeVersion(run, 0, fill());
  await writeVersion(run, 1, fill({ ...pointer, path: "tinker://model_1/weights/update-1" }));
  const target = join(runs, "exported");
  const exportTo = (to: string, ...more: string[]) =>
    runCommand(registerExport, "export", run.id, to, "--runs", runs, ...more);
  return { server, target, exportTo, exported: (...more: string[]) => exportTo(target, ...more) };
}

test("an adapter comes in PEFT's format, with the version's other files", async () => {
  const { server, target, exported } = await servedRun({ archive: archiveOf(adapter) });
  expect(await exported()).toContain(` is in ${target}\n`);
  const files = readdirSync(base).filter((name) => name !== "model.safetensors");
  expect(readdirSync(target).sort()).toEqual(
    [...files, "adapter_config.json", "adapter_model.safetensors"].sort(),
  );
  const found = await readAdapter(target);
  expect(found.config).toMatchObject({ rank: 2, alpha: 32, base: "tiny" });
  expect(found.tensors).toEqual((await readAdapter(adapter)).tensors);
  expect([...server.models.keys()], "the model that loaded the checkpoint is released").toEqual([]);
  const paths = server.calls.map(({ path }) => path);
  expect(paths, "SkyRL drops only sessions that have sent a heartbeat").toContain("session_heartbeat");
});

test("on the service of Thinking Machines, whose files have addresses of their own", async () => {
  vi.stubEnv("TINKER_API_KEY", "tml-key");
  const files = new Map(readdirSync(adapter).map((name) => [name, readFileSync(join(adapter, name))]));
  files.set("README.md", Buffer.from("not of the adapter"));
  const { target, exported } = await servedRun({ files }, "tinker");
  await exported();
  expect((await readAdapter(target)).tensors).toEqual((await readAdapter(adapter)).tensors);
  expect(readdirSync(target)).not.toContain("README.md");
});

test("with the base model's files, the adapter is merged", async () => {
  const { target, exported } = await servedRun({ archive: archiveOf(adapter) });
  await expect(exported("--merge")).rejects.toThrow('base_model_name_or_path "tiny" is not a folder');
  await exported("--merge", "--base", base);
  const [plain, merged] = [await readWeights(base), await readWeights(target)];
  const isSame = (key: string) => plain.get(key)?.data.join() === merged.get(key)?.data.join();
  const changed = [...plain.keys()].filter((key) => !isSame(key));
  expect(changed).toEqual(["model.layers.0.self_attn.q_proj.weight"]);
});

test("what can't be downloaded is refused with the reason", async () => {
  const without = await servedRun({});
  await expect(without.exported("--policy-version", "0")).rejects.toMatchObject({ code: "POLICY_ON_SERVER" });
  await expect(without.exported()).rejects.toMatchObject({
    code: "TINKER_DOWNLOAD_FAILED",
    params: { checkpoint: "tinker://model_1/weights/update-1", url: without.server.url },
  });
  const other = join(root, "other");
  mkdirSync(other);
  writeFileSync(join(other, "notes.txt"), "not an adapter");
  const wrong = await servedRun({ archive: archiveOf(other) });
  await expect(wrong.exported()).rejects.toMatchObject({ code: "ADAPTER_INVALID" });
  const { exportTo } = await servedRun({ archive: archiveOf(adapter) });
  const gguf = exportTo(join(root, "policy.gguf"));
  await expect(gguf).rejects.toMatchObject({ code: "ADAPTER_NOT_MERGED" });
});
