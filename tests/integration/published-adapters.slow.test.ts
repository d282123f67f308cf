// A run through Temporal that trains on one small server and samples on another. The first follows what SkyRL 0.4.0 publishes
// (tests/support/tinker-server.ts), the second speaks vLLM's and SGLang's protocols (tests/support/inference-server.ts).
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPointer } from "../../plugins/trainer-tinker/policy-files.ts";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { readAdapter, writeAdapter } from "../../src/engine/models/weights/adapter-folder.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { everturn, lastLine } from "../support/command.ts";
import { inferenceServer } from "../support/inference-server.ts";
import { serveArithmetic } from "../support/served-arithmetic.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeServedPipeline } from "../support/tinker-run.ts";
import { writeTinyPolicy } from "../support/tiny-policy.ts";
import { folderOf } from "../support/versions.ts";

const steps = 2;

/** Archives of adapters, as SkyRL packs them: the n-th is that of weights after n updates. */
async function writeArchives(folder: string): Promise<Uint8Array[]> {
  const archives: Uint8Array[] = [];
  for (const updates of Array(8).keys()) {
    const at = join(folder, `adapter-${updates}`);
    mkdirSync(at, { recursive: true });
    const matrix = (...shape: [number, number]) => ({
      shape,
      data: new Float32Array(shape[0] * shape[1]).fill(0.5 + updates),
    });
    const module = "model.layers.0.self_attn.q_proj";
    const tensors = new Map([
      [`${module}.lora_A.weight`, matrix(2, 8)],
      [`${module}.lora_B.weight`, matrix(8, 2)],
    ]);
    await writeAdapter(at, { rank: 2, alpha: 32, targets: ["q_proj"], base: "tiny" }, tensors);
    execFileSync("tar", ["-czf", `${at}.tar.gz`, "-C", at, "."]);
    archives.push(readFileSync(`${at}.tar.gz`));
  }
  return archives;
}

test.each(["vllm", "sglang"])(
  "%s samples each version from the adapter that the trainer published",
  async (kind) => {
    const folder = temporaryFolder();
    const model = join(folder, "model");
    const vocabulary = await writeTinyPolicy(model, 512);
    const archives = await writeArchives(folder);
    const updatesIn = (history: readonly string[]) =>
      history.filter((one) => !/^(initial|new optimizer)/.test(one)).length;
    const { server } = await serveArithmetic("skyrl-jax", vocabulary, {
      archive: (history) => archives[updatesIn(history)]!,
    });
    onTestFinished(() => server.stop());
    const inference = await inferenceServer(model);
    onTestFinished(() => inference.stop());
    const runs = join(folder, "runs");
    const place = { server: "skyrl-jax", url: server.url };
    const pipeline = writeServedPipeline(folder, place, {
      steps,
      policy: { plugin: "policy-inference-server", config: { server: kind, urls: [inference.url], model } },
      evaluation: { every: 0, tasks: 4 },
    });
    const ended = await everturn("run", pipeline, "--runs", runs, "--json");
    expect(ended.code, ended.stderr).toBe(0);
    const run = await openRunFolder(runs, lastLine<TrainingResult>(ended.stdout).run);
    const versions = await Promise.all(
      Array.from({ length: steps + 1 }, (_, version) => folderOf(run, version)),
    );
    // Of 16 trajectories in a step and 4 in an evaluation, each has one action or two.
    expect(versions.map((version) => inference.written.get(version) ?? 0)).toEqual([
      expect.toSatisfy((actions: number) => actions >= 20 && actions <= 40),
      expect.toSatisfy((actions: number) => actions >= 16 && actions <= 32),
      expect.toSatisfy((actions: number) => actions >= 4 && actions <= 8),
    ]);
    for (const [version, at] of versions.entries()) {
      if (version === 0) continue;
      const { path = "" } = (await readPointer(at)) ?? {};
      const updates = updatesIn(server.checkpoints.get(path)!.history);
      const { tensors } = await readAdapter(at);
      expect(updates).toBe(version * 2);
      expect([...tensors.values()].map(({ data }) => data[0])).toEqual([0.5 + updates, 0.5 + updates]);
    }
    expect([...server.models.keys()], "nothing is left on the training server").toEqual([]);
  },
);
