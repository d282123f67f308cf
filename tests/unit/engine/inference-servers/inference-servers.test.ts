import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import onnx from "../../../../plugins/policy-onnx/index.ts";
import type { GenerationRequest, Policy } from "../../../../src/contracts/policy.ts";
import { openServerPolicy } from "../../../../src/engine/inference-servers/open-server-policy.ts";
import type { EngineProtocol } from "../../../../src/engine/inference-servers/server-protocol.ts";
import { sglang } from "../../../../src/engine/inference-servers/sglang.ts";
import { vllm } from "../../../../src/engine/inference-servers/vllm.ts";
import { adapterShapes } from "../../../../src/engine/learning/lora.ts";
import { readModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { writeAdapterPolicyFolder } from "../../../../src/engine/models/weights/policy-folder.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { type Fault, inferenceServer } from "../../../support/inference-server.ts";
import { tokenizerFolder } from "../../../support/sample-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = temporaryFolder();
const architecture = {
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 24,
  max_position_embeddings: 128,
  initializer_range: 0.3,
};
const folders = [0, 1].map((version) => join(root, `version-${version}`));
for (const [version, folder] of folders.entries())
  await onnx.initialize(folder, { tokenizer: tokenizerFolder, architecture }, version);
const [first = "", second = ""] = folders;
const adapted = join(root, "adapted");
await writeAdapter(adapted);

const servers = [await inferenceServer(first), await inferenceServer(first)];
const embedded = await onnx.open(first, { slots: 8 });
const { tokens } = embedded.framePrompt([{ role: "user", content: "1 + 2 =" }], []);
const opened: Policy[] = [];

afterAll(async () => {
  for (const policy of [embedded, ...opened]) await policy.close();
  for (const server of servers) await server.stop();
});

test.each([vllm, sglang])(
  "$name writes what the embedded policy writes, version by version",
  async (protocol) => {
    const policy = await open(protocol, 1);
    for (const version of [0, 1, 2, 1]) {
      if (!policy.isLoaded(version)) await policy.load(version, [first, second, adapted][version] ?? "");
      for (const temperature of [0, 1]) {
        const asked = request({ version, temperature });
        const written = await policy.generate(asked);
        const { tokens: own, logprobs, samplingLogprobs, text } = await expected(asked);
        expect(written.logprobs).toHaveLength(written.tokens.length);
        if (temperature === 0)
          expect(written).toMatchObject({ tokens: own, text, samplingLogprobs, logprobs });
        else expect(written.samplingLogprobs).toEqual(written.logprobs);
      }
    }
    expect(servers[0]?.adapters.size, "an adapter is loaded beside version 0").toBe(1);
  },
);

test.each<[string, EngineProtocol, Fault[]]>([
  ["vLLM", vllm, ["drop", "half", "error", "abort", "updated"]],
  ["SGLang", sglang, ["updated", "abort", "error", "half", "drop"]],
])(
  "%s: what it wrote is taken whole and of the right version, or written again",
  async (_, protocol, faults) => {
    const policy = await open(protocol, 1);
    await policy.load(0, first);
    const server = servers[0]!;
    const before = server.asked.length;
    server.faults.push(...faults);
    const written = await policy.generate(request({ version: 0 }));
    expect(written).toMatchObject({ tokens: (await expected(request({ version: 0 }))).tokens });
    expect(server.asked.length - before).toBe(faults.length + 1);
    expect(new Set(server.asked).size, "each attempt has an id of its own").toBe(server.asked.length);
  },
);

test("two versions asked for at once are each written by their own weights, in few changes", async () => {
  const policy = await open(sglang, 1);
  await policy.load(0, first);
  await policy.load(1, second);
  const before = servers[0]!.loads.length;
  const asked = Array.from({ length: 12 }, (_, at) => request({ version: at % 2, trajectory: `${at}` }));
  const written = await Promise.all(asked.map((one) => policy.generate(one)));
  const own = [await expected(request({ version: 0 })), await expected(request({ version: 1 }))];
  expect(written.map((one) => one.tokens)).toEqual(asked.map(({ version }) => own[version]?.tokens));
  expect(servers[0]!.loads.length - before).toBeLessThanOrEqual(2);
});

test.each([vllm, sglang])(
  "$name: a trajectory stays with its replica, and goes on with another if that dies",
  async (protocol) => {
    const policy = await open(protocol, 2);
    await policy.load(1, second);
    const write = (trajectory: string, turn: number) =>
      policy.generate(request({ version: 1, trajectory, turn }));
    const askedBy = (): number[] => servers.map(({ asked }) => asked.length);
    const where = new Map<string, number>();
    const writeSomewhere = async (trajectory: string, turn: number): Promise<number> => {
      const before = askedBy();
      await write(trajectory, turn);
      return askedBy().findIndex((count, index) => count > before[index]!);
    };
    // Which replica a trajectory goes to depends on the replicas' ports, which are free ones.
    for (let at = 0; where.size < 8 && at < 200; at++) {
      const replica = await writeSomewhere(`t${at}`, 1);
      const there = [...where.values()].filter((place) => place === replica).length;
      if (there < 4) where.set(`t${at}`, replica);
    }
    expect([...where.values()].sort(), "all replicas have trajectories").toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    for (const turn of [2, 3])
      for (const [trajectory, replica] of where)
        expect(await writeSomewhere(trajectory, turn), "the replica of the earlier turns").toBe(replica);
    const { tokens: own } = await expected(request({ version: 1 }));
    const [one, other] = servers;
    one!.faults.push("silence", "silence", "silence", "silence");
    const writing = [...where.keys()].map((trajectory) => write(trajectory, 4));
    await expect.poll(() => one!.faults.length, { timeout: 30_000 }).toBeLessThan(4);
    await one!.die();
    for (const { tokens: written } of await Promise.all(writing)) expect(written).toEqual(own);
    await other!.die();
    const later = write("t0", 5);
    one!.faults.length = 0;
    await Promise.all([one!.start(), other!.start()]);
    expect((await later).tokens, "they came back without the weights that they had").toEqual(own);
  },
);

test("a replica that says nothing any more counts as dead, and its actions are written by another", async () => {
  const policy = await open(vllm, 2, 1000);
  await policy.load(0, first);
  const silent = servers[0]!;
  silent.isWell = false;
  silent.faults.push(...Array.from({ length: 8 }, () => "silence" as const));
  const asked = Array.from({ length: 8 }, (_, at) => request({ version: 0, trajectory: `s${at}` }));
  const { tokens: own } = await expected(request({ version: 0 }));
  const written = await Promise.all(asked.map((one) => policy.generate(one)));
  expect(written.map((one) => one.tokens)).toEqual(asked.map(() => own));
  silent.isWell = true;
  silent.faults.length = 0;
});

test("gives up what nobody waits for, and says what it can't do", async () => {
  const policy = await open(vllm, 1);
  await policy.load(0, first);
  servers[0]!.faults.push("silence");
  const controller = new AbortController();
  const writing = policy.generate({ ...request({ version: 0 }), signal: controller.signal });
  await expect.poll(() => servers[0]!.faults.length, { timeout: 30_000 }).toBe(0);
  controller.abort(new Error("nobody waits"));
  await expect(writing).rejects.toThrow("nobody waits");
  await expect(policy.generate(request({ version: 0, temperature: 0.5 }))).rejects.toMatchObject({
    code: "ENGINE_SAMPLING",
  });
  await expect(policy.generate(request({ version: 7 }))).rejects.toMatchObject({
    code: "POLICY_VERSION_NOT_LOADED",
  });
  const full = Array.from({ length: 128 }, () => 5);
  expect(await policy.generate({ ...request({ version: 0 }), tokens: full })).toMatchObject({
    tokens: [],
    finishReason: "length",
  });
  const none = await openServerPolicy(first, { protocol: vllm, urls: ["http://127.0.0.1:9"], patience: 1 });
  await expect(none.load(0, first)).rejects.toMatchObject({ code: "ENGINE_FAILED" });
  await none.close();
});

test("a plan corrects for the inference server, and is refused where it could not", async () => {
  const pipeline = join(import.meta.dirname, "../../../../pipelines/calculator.yaml");
  const policy = `policy.plugin=policy-vllm`;
  const plan = await loadPlan(pipeline, { overrides: [policy] });
  expect(plan.policy.config).toMatchObject({ urls: ["http://127.0.0.1:8000"], patience: 600 });
  expect(plan.trainer.config).toMatchObject({ importanceCorrection: "token-truncate" });
  const refused = (...overrides: string[]) =>
    expect(loadPlan(pipeline, { overrides: [policy, ...overrides] })).rejects;
  await refused("rollout.temperature=0.7").toThrow(
    "rollout.temperature is 0.7, but policy-vllm draws actions at 0 or 1 alone",
  );
  await refused("trainer.config.importanceCorrection=none").toThrow("policy.config.urls are vLLM's");
  await refused("policy.config.apiKeyVariable=NOBODY_SETS_THIS").toThrow("which the environment lacks");
});

test.each([
  ["vLLM", "policy-vllm", { server: "vllm", urls: ["http://127.0.0.1:8000"] }],
  ["SGLang", "policy-sglang", { server: "sglang", urls: ["http://127.0.0.1:30000"] }],
])("%s has a policy of its own name, which sets the server", async (name, alias, config) => {
  const pipeline = join(import.meta.dirname, "../../../../pipelines/calculator.yaml");
  const policy = `policy.plugin=${alias}`;
  const plan = await loadPlan(pipeline, { overrides: [policy] });
  expect(plan.policy).toMatchObject({ name: alias, config });
  const refused = (...overrides: string[]) => expect(loadPlan(pipeline, { overrides })).rejects;
  await refused(policy, "trainer.config.importanceCorrection=none").toThrow(
    `policy.config.urls are ${name}'s`,
  );
  await refused(policy, "policy.config.server=vllm").toThrow(
    `${alias} is an alias of policy-inference-server and sets “server” itself.`,
  );
  await refused("policy.plugin=policy-inference-server").toThrow("policy.config lacks “server”");
});

async function open(protocol: EngineProtocol, replicas: number, healthEvery = 10_000): Promise<Policy> {
  const urls = servers.slice(0, replicas).map(({ url }) => url);
  const policy = await openServerPolicy(first, { protocol, urls, healthEvery });
  opened.push(policy);
  return policy;
}

/** What the embedded policy writes. */
async function expected(asked: GenerationRequest) {
  await embedded.load(asked.version, [first, second, adapted][asked.version] ?? "");
  return embedded.generate(asked);
}

interface Asked {
  version: number;
  temperature?: number;
  trajectory?: string;
  turn?: number;
}

/** Greedy, unless said otherwise: what is drawn depends on the version alone. */
function request({ version, temperature = 0, trajectory = "t", turn = 1 }: Asked): GenerationRequest {
  return {
    tokens,
    version,
    sampling: { temperature, maxTokens: 12 },
    key: { seed: 1, trajectory, turn },
  };
}

/** An adapter over version 0 whose matrices are far from zero. */
async function writeAdapter(folder: string): Promise<void> {
  const settings = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj"], base: first };
  const tensors = new Map<string, Tensor>();
  for (const [key, shape] of adapterShapes(await readModelConfig(join(first, "config.json")), settings)) {
    const data = Float32Array.from({ length: shape[0]! * shape[1]! }, (_, at) => 0.5 * Math.sin(at * 1.7));
    tensors.set(key, { shape, data });
  }
  await mkdir(folder, { recursive: true });
  await writeAdapterPolicyFolder(folder, first, settings, tensors);
}
