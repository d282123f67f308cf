import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PluginCheckOptions, type PromiseName, pluginChecks } from "everturn/testing";
import { test } from "vitest";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const others = join(root, "tests", "broken-plugins", "others.ts");
const calculator = join(root, "pipelines", "calculator");

async function broken(plugin: string, promise: PromiseName): Promise<string | undefined> {
  const check = (await pluginChecks(plugin)).find((one) => one.promise === promise);
  if (check === undefined) throw new Error(`${plugin} has no promise “${promise}”.`);
  return check.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

test.concurrent.for<[string, PluginCheckOptions, number]>([
  [
    "reward-format",
    {
      config: { tags: ["answer"], of: "each" },
      cases: [
        { answer: "<answer>42</answer>", reward: 1, success: true, turnRewards: [1] },
        { answer: "42", reward: 0 },
      ],
    },
    10,
  ],
  ["dataset-jsonl", { config: { path: join(calculator, "chain-sum-small.val.jsonl") } }, 4],
  ["loop-tool-agent", { cases: [{ actions: ["It is 42."], outcome: "answered" }] }, 6],
  [
    "policy-onnx",
    {
      config: {
        tokenizer: join(calculator, "tokenizer"),
        architecture: {
          hidden_size: 16,
          num_hidden_layers: 1,
          num_attention_heads: 2,
          intermediate_size: 24,
          max_position_embeddings: 64,
        },
      },
    },
    6,
  ],
  ["trainer-onnx", {}, 4],
])("%s keeps its promises", async ([plugin, options, promises], { expect }) => {
  const checks = await pluginChecks(plugin, options);
  expect(checks).toHaveLength(promises);
  for (const check of checks) await check.run();
});

test.concurrent.for<[string, PromiseName, string]>([
  ["judgesByChance", "retry", "no random numbers"],
  ["numbersOnly", "odd values", "“reward” must be a number to train on"],
  ["notPure", "purity", "Remove `pure`"],
  ["growsTired", "concurrency", "no state in the module"],
  ["inAnyOrder", "order", "in a stable order"],
  ["ofThisProcess", "death of a worker", "in a stable order"],
  ["noTasks", "answers", "A task has data_source"],
  ["dates", "answers", "Tasks are JSON"],
  ["flat", "gradient", "through which gradients flow"],
  ["deaf", "signal", "Listen to `signal`"],
  ["choosesNobody", "tokens", "three whole numbers a tie"],
  ["forgetsItsSteps", "death of a worker", "Save everything that the next step depends on"],
])("%s: %s", async ([name, promise, advice], { expect }) => {
  const said = await broken(`${others}#${name}`, promise);
  expect(said).toContain(`breaks the promise “${promise}”`);
  expect(said).toContain(advice);
});

const folder = temporaryFolder();
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules", "everturn"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

test.concurrent.for<[string, string, PromiseName, string]>([
  [
    "node",
    'fs.existsSync("/"); await generate(); return "answered";',
    "workflow code",
    "Import no Node modules",
  ],
  [
    "process",
    'await generate(); return process.pid ? "answered" : "turn-limit";',
    "turns",
    "process is not defined",
  ],
  ["twice", 'await generate(); await generate(); return "answered";', "turns", "Generate once a turn"],
  ["over", 'await generate(); return "over" as "answered";', "turns", 'A turn returns "continue"'],
  ["waits", "await generate(); return new Promise(() => {});", "turns", "Await only what the contract gives"],
  [
    "throws",
    'JSON.parse((await generate()).text); return "answered";',
    "odd values",
    "Answer unreadable actions",
  ],
  [
    "chance",
    'await generate(); state.id = String(begun); return "answered";',
    "replay",
    "Decide only from the context",
  ],
  [
    "module",
    'await generate(); return ++turns === 2 ? "answered" : "continue";',
    "death of a worker",
    "Keep everything that the next turn needs in `state`",
  ],
])("a loop, %s: %s", async ([name, turn, promise, advice], { expect }) => {
  const head = name === "node" ? 'import fs from "node:fs";\n' : "";
  const begun = name === "chance" ? "const begun = performance.timeOrigin + performance.now();\n" : "";
  const text = `import { defineLoop } from "everturn/workflow";\n${head}${begun}let turns = 0;
export default defineLoop({ async turn({ generate, state }) { void state; void turns; ${turn} } });\n`;
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, text);
  const said = await broken(file, promise);
  expect(said).toContain(`breaks the promise “${promise}”`);
  expect(said).toContain(advice);
});
