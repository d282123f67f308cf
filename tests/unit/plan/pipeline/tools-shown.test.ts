import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { initializePolicy } from "../../../../activities/initialize-policy.ts";
import { registerTemplate } from "../../../../src/apps/cli/commands/template.ts";
import { bareTemplateReport } from "../../../../src/engine/tokens/template-report.ts";
import { checkPipeline } from "../../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRuns } from "../../../../src/run/folder/open-runs.ts";
import { policyWorker } from "../../../../src/work/workers/policy-worker.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const small = join(root, "tests", "pipelines", "small.yaml");
const folder = temporaryFolder();
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));

/** The chat template of SmolLM2, which shows no tools. */
const own = join(folder, "smollm2.jinja");
writeFileSync(
  own,
  `{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}`,
);

const withOwn = [`policy.config.chatTemplate=${own}`, "warmStart=null"];

function notesOf(...overrides: string[]): Promise<string[]> {
  return checkPipeline(small, { overrides }).then(({ notes }) =>
    notes.filter((note) => note.startsWith("tools:")),
  );
}

function tasks(name: string, ...messages: { role: string; content: string }[]): string {
  const path = join(folder, name);
  const row = { data_source: "sums", prompt: messages, reward_model: { ground_truth: "2" } };
  writeFileSync(path, `${JSON.stringify(row)}\n`);
  return `dataset={ train: { plugin: dataset-jsonl, config: { path: ${path} } }, validation: { plugin: dataset-jsonl, config: { path: ${path} } } }`;
}

const user = { role: "user", content: "1 + 1" };

test("tools that the chat template does not show are refused, with the key that names another template", async () => {
  const refused = checkPipeline(small, { overrides: withOwn });
  await expect(refused).rejects.toMatchObject({
    code: "WRONG_CONFIGURATION",
    problems: [{ code: "TOOLS_NOT_SHOWN", message: expect.stringContaining("policy.config.chatTemplate") }],
  });
  await expect(refused).rejects.toThrow(/shows no tools, but the policy may call calculator/);
});

test("everturn template reports whether a template shows tools", async () => {
  const chatml = await readFile(join(root, "templates", "chat", "chatml-tools.jinja"), "utf8");
  const smollm2 = await readFile(own, "utf8");
  expect(bareTemplateReport(chatml)).toMatchObject({ usable: true, exact: true, tools: true, rows: 1 });
  expect(bareTemplateReport(smollm2)).toMatchObject({ usable: true, tools: false });
  const stdout = await runCommand(registerTemplate, "template", own);
  expect(stdout).toContain("tools     no: its prompts show no tools");
});

test("a template that shows the tools, demonstrated calls, or a check that is off are accepted", async () => {
  const chatml = join(root, "templates", "chat", "chatml-tools.jinja");
  const longer = "policy.config.architecture.max_position_embeddings=512";
  expect(await notesOf(`policy.config.chatTemplate=${chatml}`, "warmStart=null", longer)).toEqual([]);
  expect(await notesOf(`policy.config.chatTemplate=${own}`, "rollout.format=hermes")).toEqual([]);
  expect(await notesOf(...withOwn, "rollout.templateCheck=off")).toEqual([]);
  expect(await notesOf(...withOwn, "tools=[]")).toEqual([]);
  expect(await notesOf(...withOwn, "loop.tools=[]")).toEqual([]);
});

test("prompts that describe the tools themselves are accepted, and those that only mention them are noted", async () => {
  const react = "Answer in lines of Thought:, Action: calculator, Action Input: … End with Final Answer:";
  const described = tasks("react.jsonl", { role: "system", content: react }, user);
  expect(await notesOf(...withOwn, described, "rollout.format=react")).toEqual([]);
  const json = 'Call <tool_call>{"name": "calculator", "arguments": {"expression": "2 * 3"}}</tool_call>.';
  const shown = tasks("json.jsonl", { role: "system", content: json }, user);
  expect(await notesOf(...withOwn, shown)).toEqual([]);
  const mentioned = tasks("mentioned.jsonl", { role: "user", content: "Use the calculator: 1 + 1" });
  expect(await notesOf(...withOwn, mentioned)).toEqual([
    expect.stringMatching(/shows no tools \(calculator\)\. The prompts mention them/),
  ]);
});

test("a loop of someone's own and an agent may show tools in another way, so they are noted", async () => {
  const loop = join(folder, "talking.ts");
  writeFileSync(
    loop,
    'import { defineLoop } from "everturn/workflow";\nexport default defineLoop({ turn: async ({ generate }) => (await generate(), "answered") });\n',
  );
  expect(await notesOf(...withOwn, `loop=${loop}`)).toEqual([
    expect.stringMatching(/so the loop \S+ must describe them: calculator/),
  ]);
  const agent = join(root, "pipelines", "agent", "agent.ts");
  const asAgent = `loop={ plugin: loop-agent, config: { module: ${agent} } }`;
  expect(await notesOf(...withOwn, asAgent)).toEqual([
    expect.stringMatching(/If the agent sends tools with its requests, the policy will not see them/),
  ]);
  expect(await notesOf("warmStart=null", asAgent)).toEqual([]);
});

test("a policy that could not frame text before it was built is checked when it is", async () => {
  const plugin = join(folder, "policy-late");
  mkdirSync(plugin);
  cpSync(join(root, "plugins/policy-onnx/everturn.plugin.json"), join(plugin, "everturn.plugin.json"));
  const onnx = JSON.stringify(join(root, "plugins/policy-onnx/index.ts"));
  const late = "(config, folder) => (folder === undefined ? undefined : onnx.framing(config, folder))";
  const code = `import onnx from ${onnx};\nexport default { ...onnx, framing: async ${late} };\n`;
  writeFileSync(join(plugin, "index.ts"), code);
  const { plan } = await checkPipeline(small, { overrides: [...withOwn, `policy.plugin=${plugin}`] });
  const runs = join(folder, "runs");
  const run = await createRunFolder(plan, { runs });
  await expect(initializePolicy(policyWorker(openRuns(runs)))({ run })).rejects.toMatchObject({
    code: "WRONG_CONFIGURATION",
    message: expect.stringContaining("small.yaml: the policy's chat template shows no tools"),
  });
});
