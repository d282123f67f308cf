import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";

/** A valid pipeline; each test breaks one thing in it. */
const pipeline = `name: test
seed: 7
steps: 2
policy:
  plugin: policy-test
  config: { weights: ./weights, width: 8 }
dataset:
  train: { plugin: dataset-jsonl, config: { path: ./tasks.jsonl } }
  validation: { plugin: dataset-jsonl, config: { path: ./tasks.jsonl, limit: 1 } }
tools:
  - plugin: tool-calculator
    timeout: 2s
    retry: { maximumAttempts: 3 }
loop: { plugin: loop-test, config: {} }
reward: { plugin: reward-exact-match, config: {} }
trainer:
  plugin: trainer-test
  config:
    learningRate: 1e-4
rollout:
  batchSize: 8
  groupSize: 2
`;

function manifest(kind: string, rest: object): string {
  const start = { name: `${kind}-test`, kind, version: "0.1.0", engines: { everturn: "^0.3.0" } };
  return `${JSON.stringify({ ...start, ...rest }, null, 2)}\n`;
}

function config(required: string[], properties: object): object {
  return { type: "object", additionalProperties: false, required, properties };
}

const parameters = config(["query"], { query: { type: "string" } });

/** Files of the workspace; a broken tool plugin is made by changing those of tool-test. */
const files: Record<string, string> = {
  "pipeline.yaml": pipeline,
  "weights/model.txt": "",
  "tasks.jsonl": `${JSON.stringify({ data_source: "test", prompt: [{ role: "user", content: "1 + 1" }], reward_model: { ground_truth: "2" } })}\n`,
  "plugins/policy-test/everturn.plugin.json": manifest("policy", {
    entry: "./index.js",
    config: config(["weights", "width"], {
      weights: { type: "string", "x-path": "folder" },
      width: { type: "integer", minimum: 1, maximum: 64, description: "Width of a layer, from 1 to 64." },
    }),
  }),
  "plugins/policy-test/index.js": "export default { initialize() {}, open() {} };",
  "plugins/trainer-test/everturn.plugin.json": manifest("trainer", {
    entry: "./index.js",
    config: config(["learningRate"], {
      learningRate: { type: "number", exclusiveMinimum: 0 },
      minibatchSize: { type: "integer", minimum: 1, default: 4 },
      optimizer: { enum: ["adamw", "sgd"] },
    }),
  }),
  "plugins/trainer-test/index.js": "export default { open() {} };",
  "plugins/loop-test/everturn.plugin.json": manifest("loop", { workflow: "./workflow.js" }),
  "plugins/loop-test/workflow.js": "export default async () => 'answered';",
  "plugins/tool-test/everturn.plugin.json": manifest("tool", {
    entry: "./index.js",
    tool: { name: "lookup", description: "Looks things up.", parameters },
  }),
  "plugins/tool-test/index.js": "export default { execute() {} };",
};

/** The text of a workspace's file, to change it. */
export function fileOf(name: string): string {
  const text = files[name];
  if (text === undefined) throw new Error(`No file ${name}.`);
  return text;
}

/** The file `name` with `from`, which must be in it once, replaced. */
export function changed(name: string, from: string, to: string): Record<string, string> {
  const text = fileOf(name);
  if (text.split(from).length !== 2) throw new Error(`“${from}” isn't once in ${name}.`);
  return { [name]: text.replace(from, () => to) };
}

/** Writes a workspace with `changes`; returns its folder. */
export function workspace(changes: Record<string, string> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "everturn-pipeline-")));
  for (const [name, text] of Object.entries({ ...files, ...changes })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The message with which the pipeline of a workspace with `changes` is refused, its paths relative. */
export async function refused(changes: Record<string, string>, overrides: string[] = []): Promise<string> {
  const folder = workspace(changes);
  try {
    await loadPlan(join(folder, "pipeline.yaml"), { overrides });
  } catch (error) {
    if (!(error instanceof Error && error.name === "EverturnError")) throw error;
    return error.message.replaceAll(`${folder}/`, "").replaceAll(folder, "the pipeline's folder");
  }
  throw new Error("The pipeline was accepted.");
}

/** The message for a pipeline in which `from` is replaced. */
export function withPipeline(from: string, to: string): Promise<string> {
  return refused(changed("pipeline.yaml", from, to));
}

/** The message for a pipeline whose tool is tool-test, in whose manifest `from` is replaced. */
export function withManifest(from: string, to: string): Promise<string> {
  const uses = changed("pipeline.yaml", "tool-calculator", "tool-test");
  return refused({ ...uses, ...changed("plugins/tool-test/everturn.plugin.json", from, to) });
}
