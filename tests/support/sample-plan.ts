import { fileURLToPath } from "node:url";
import { defined } from "../../src/base/records/defined.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import type { ExecutionSettings, Plan, ResolvedPlugin, ResolvedTool } from "../../src/contracts/plan.ts";

const calculator = fileURLToPath(new URL("../../pipelines/calculator", import.meta.url));

/** What a sample run is made of. */
export interface SampleOptions {
  steps: number;
  batchSize: number;
  /** Held-out tasks. */
  tasks: number;
  warmStart: boolean;
  evaluationEvery: number;
}

/** A tokenizer that stays as it is, so that numbers of tokens do. */
export const tokenizerFolder = fileURLToPath(
  new URL("../unit/engine/tokens/fixtures/tokenizer", import.meta.url),
);

/** The calculator pipeline's validation tasks. */
export const validationFile = `${calculator}/chain-sum-small.val.jsonl`;

/** A plan like the calculator pipeline's, at the size of a test. */
export function samplePlan({ steps, batchSize, tasks, warmStart, evaluationEvery }: SampleOptions): Plan {
  const dataset = plugin("dataset-jsonl", "dataset", { path: validationFile });
  const settings = { demonstrations: `${calculator}/demonstrations.jsonl`, steps: 400, batchSize: 64 };
  const architecture = {
    hidden_size: 128,
    num_hidden_layers: 3,
    num_attention_heads: 4,
    num_key_value_heads: 2,
  };
  return defined({
    pipelineFile: `${calculator}.yaml`,
    name: "calculator",
    seed: 1,
    steps,
    policy: plugin("policy-onnx", "policy", { tokenizer: tokenizerFolder, architecture }),
    dataset: { train: dataset, validation: dataset },
    tools: [calculatorTool()],
    hosts: {},
    loop: {
      ...plugin("loop-tool-agent", "loop", { maxTurns: 3 }),
      workflow: "/plugins/loop-tool-agent/workflow.ts",
    },
    rewards: [
      { ...plugin("reward-exact-match", "reward", {}), calls: calls("reward-exact-match"), weight: 1 },
    ],
    trainer: plugin("trainer-onnx", "trainer", { learningRate: 1e-4, minibatchSize: batchSize }),
    warmStart: warmStart ? { ...settings, learningRate: 1e-3 } : undefined,
    rollout: {
      batchSize,
      groupSize: 1,
      temperature: 1,
      maxActionTokens: 48,
      concurrency: batchSize,
      staleness: 0,
      maxInfrastructureFailures: 0.5,
      templateCheck: "warn",
      observations: { characters: 8000, cut: "end" },
    },
    evaluation: { every: evaluationEvery, tasks },
    checkpoints: { every: 20 },
    retention: { singleRecords: 3 },
  });
}

function plugin(name: string, kind: ResolvedPlugin["manifest"]["kind"], config: JsonObject): ResolvedPlugin {
  const folder = `/plugins/${name}`;
  const entry = `${folder}/index.ts`;
  const capabilities = { network: false, files: false, processes: false };
  const manifest = { name, kind, version: "0.1.0", engines: { everturn: "^0.3.0" }, capabilities };
  return { name, version: "0.1.0", folder, entry, manifest, config };
}

function calculatorTool(): ResolvedTool {
  const base = plugin("tool-calculator", "tool", {});
  const schema = { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] };
  const times = { initialInterval: "100ms", maximumInterval: "5s" };
  const tool = {
    name: "calculator",
    description: "Evaluates an arithmetic expression.",
    parameters: schema,
    stateful: false,
    retry: { maximumAttempts: 5, backoffCoefficient: 2, ...times },
    timeout: "10s",
  };
  return {
    ...base,
    manifest: { ...base.manifest, tool },
    ...calls("calculator"),
  };
}

function calls(host: string): ExecutionSettings {
  const retry = { maximumAttempts: 5, initialInterval: 100, backoffCoefficient: 2, maximumInterval: 5000 };
  return { retry, timeout: 10_000, host };
}
