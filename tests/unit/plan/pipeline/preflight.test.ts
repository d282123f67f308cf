import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { initializePolicy } from "../../../../activities/initialize-policy.ts";
import { registerValidate } from "../../../../src/apps/cli/commands/validate.ts";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import { checkPipeline, loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { countRows } from "../../../../src/plan/pipeline/read/count-rows.ts";
import { readDemonstrations } from "../../../../src/plan/pipeline/read/demonstrations.ts";
import { readTaskFile } from "../../../../src/plan/tasks/task-file.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRuns } from "../../../../src/run/folder/open-runs.ts";
import { policyWorker } from "../../../../src/work/workers/policy-worker.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "../../apps/cli/run-command.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const small = join(root, "tests", "pipelines", "small.yaml"); // a context of 256 tokens
const folder = temporaryFolder();

function jsonLines(name: string, rows: object[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

const task = (words: number) => ({
  data_source: "words",
  prompt: [{ role: "user", content: "word ".repeat(words).trim() }],
  reward_model: { ground_truth: "1" },
});

function demonstration(name: string, given: JsonObject, answer = "Answer: 2") {
  const call = { type: "function", function: { name, arguments: given } };
  return {
    messages: [
      { role: "user", content: "1 + 1" },
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", content: "2" },
      { role: "assistant", content: answer },
    ],
  };
}

/** What the pipeline with these overrides is refused with, a line each. */
async function refusals(...overrides: string[]): Promise<string[]> {
  try {
    await loadPlan(small, { overrides });
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "WRONG_CONFIGURATION") throw error;
    return error.problems.map(({ message }) => message.replaceAll(`${folder}/`, ""));
  }
  return [];
}

test("tasks that leave no room for an action are named with their tokens", async () => {
  const path = jsonLines("long.jsonl", [task(2), task(900), task(3), task(300), task(800), task(700)]);
  const [problem, ...others] = await refusals(`dataset.train.config.path=${path}`);
  expect(others).toEqual([]);
  expect(problem).toMatch(
    /^long\.jsonl:2: 4 of the 6 tasks of dataset\.train have no room for an action in the policy's context of 256 tokens: line 2 \(\d+ tokens\), line 4 \(\d+ tokens\), line 5 \(\d+ tokens\) and 1 more\. Shorten or remove these rows, or allow more tokens: /,
  );
  const fits = jsonLines("fits.jsonl", [task(2), task(3)]);
  expect(await refusals(`dataset.train.config.path=${fits}`)).toEqual([]);
  const [limited] = await refusals(`dataset.train.config.path=${fits}`, "rollout.limits.tokens=20");
  expect(limited).toMatch(/^fits\.jsonl:1: 2 of the 2 tasks .* no room .* in rollout\.limits\.tokens \(20\)/);
});

test("tasks with longer prompts than rollout.prompts are left out with their number, or refused, and never all of them", async () => {
  const path = jsonLines("overlong.jsonl", [task(2), task(40), task(3), task(50)]);
  const train = `dataset.train.config.path=${path}`;
  const budget = "rollout.prompts={ tokens: 130 }";
  const { plan, data, notes } = await checkPipeline(small, { overrides: [train, budget] });
  expect(plan.dataset.leftOut).toEqual({ train: [1, 3], validation: [] });
  expect(data.train).toHaveLength(2);
  expect(notes.join()).toMatch(
    /dataset\.train: 2 of 4 tasks left out, whose prompts have more than 130 tokens \(rollout\.prompts\), the longest \d+/,
  );
  const [refused, ...others] = await refusals(train, "rollout.prompts={ tokens: 130, overlong: refuse }");
  expect(others).toEqual([]);
  expect(refused).toMatch(
    /^overlong\.jsonl:2: 2 of the 4 tasks of dataset\.train have more than rollout\.prompts\.tokens \(130\)/,
  );
  const [all] = await refusals(train, "rollout.prompts={ tokens: 1 }");
  expect(all).toMatch(
    /^overlong\.jsonl:1: 4 of the 4 tasks of dataset\.train have more than rollout\.prompts/,
  );
  expect(
    (await loadPlan(small, { overrides: [train, "rollout.prompts={ tokens: 250 }"] })).dataset.leftOut,
  ).toBeUndefined();
});

test("a budget in tokens is refused where nobody knows the policy's tokens", async () => {
  const endpoint = "policy={ plugin: policy-openai, config: { url: http://127.0.0.1:1/v1, model: m } }";
  const plain = [endpoint, "steps=0", "warmStart=null"];
  expect(await refusals(...plain)).toEqual([]);
  const [rollout, ofTool, ...others] = await refusals(
    ...plain,
    "rollout.observations.tokens=64",
    "tools.0={ plugin: tool-calculator, observations: { tokens: 32 } }",
  );
  expect(rollout).toContain(
    "rollout.observations.tokens is set, but the tokens of policy-openai are unknown",
  );
  expect(ofTool).toContain("tools[0].observations.tokens is set");
  expect(others).toEqual([]);
});

test("demonstrated actions that a rollout would cut are refused, with the tokens that they need", async () => {
  const given = demonstration("calculator", { expression: "1 + 1" });
  const path = jsonLines("cut.jsonl", [{ messages: [given.messages[0], given.messages[3]] }, given, given]);
  const [problem, ...others] = await refusals(
    `warmStart.demonstrations=${path}`,
    "rollout.maxActionTokens=12",
  );
  expect(others).toEqual([]);
  const [, needed = ""] =
    /^cut\.jsonl:2: 2 of the 3 counted demonstrations contain an action of more than 12 tokens \(rollout\.maxActionTokens\), up to (\d+)\. .* Raise rollout\.maxActionTokens to at least \1/.exec(
      problem ?? "",
    ) ?? [];
  expect(await refusals(`warmStart.demonstrations=${path}`, `rollout.maxActionTokens=${needed}`)).toEqual([]);
});

test("OpenAI's own chats are demonstrations", async () => {
  const call = {
    id: "call_1",
    type: "function",
    index: 0,
    function: { name: "calculator", arguments: '{"expression":"1 + 1"}' },
  };
  const answered = { role: "assistant", content: null, refusal: null, annotations: [], audio: null };
  const row = {
    id: "chatcmpl-1",
    messages: [
      { role: "developer", content: "Use the calculator." },
      { role: "user", content: [{ type: "text", text: "1 + 1" }] },
      { ...answered, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "2" },
      { role: "assistant", content: "Answer: 2", tool_calls: null },
    ],
  };
  const path = jsonLines("openai.jsonl", [row]);
  expect(await refusals(`warmStart.demonstrations=${path}`)).toEqual([]);
  const [chat] = await readDemonstrations(path);
  expect(chat?.messages).toEqual([
    { role: "system", content: "Use the calculator." },
    { role: "user", content: "1 + 1" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { type: "function", function: { name: "calculator", arguments: { expression: "1 + 1" } } },
      ],
    },
    { role: "tool", content: "2", name: "calculator" },
    { role: "assistant", content: "Answer: 2" },
  ]);
  call.function.arguments = "1 + 1";
  expect(await refusals(`warmStart.demonstrations=${jsonLines("text.jsonl", [row])}`)).toEqual([
    'text.jsonl:1: messages[2].tool_calls[0].function.arguments is “1 + 1”, but must be the JSON text of a mapping. For example "{\\"expression\\": \\"1 + 1\\"}", or the mapping itself.',
  ]);
});

test("what is wrong with many rows is told once, at the first that has it, with their number", async () => {
  const { reward_model: _, ...bare } = task(2);
  const path = jsonLines("many.jsonl", [task(1), ...Array(40).fill(bare), { ...bare, prompt: "1 + 1" }]);
  expect(await refusals(`dataset.train.config.path=${path}`)).toEqual([
    'many.jsonl:2:1 and in 40 more rows: the row lacks “reward_model”. Add “reward_model”: The right answer, for the reward to compare with: { "ground_truth": … }.',
    "many.jsonl:42:33: prompt must be a list, but is “1 + 1”. The messages that the trajectory starts from.",
  ]);
});

test("a data set's rows may have further columns, which tools and rewards see", async () => {
  const path = jsonLines("columns.jsonl", [{ ...task(2), difficulty: 3 }]);
  expect(await refusals(`dataset.train.config.path=${path}`)).toEqual([]);
  expect((await readTaskFile(path))[0]).toMatchObject({ difficulty: 3 });
});

test("demonstrations that are too long, empty, or call tools wrongly are refused", async () => {
  const rows = [
    demonstration("calculator", { expression: "1 + 1" }),
    demonstration("calculater", { expression: "1 + 1" }),
    demonstration("calculator", { expresion: "1 + 1" }),
    demonstration("calculator", { expresion: "2 + 1" }),
    demonstration("calculator", { expression: 2 }),
    demonstration("calculator", { expression: "1 + 1" }, "word ".repeat(900)),
  ];
  const path = jsonLines("demonstrations.jsonl", rows);
  const problems = await refusals(`warmStart.demonstrations=${path}`);
  expect(problems.map((problem) => problem.replace(/ (Correct the row|Shorten).*/, ""))).toEqual([
    "demonstrations.jsonl:2: a demonstrated call of “calculater” is invalid. The pipeline has no such tool. Did you mean “calculator”? Its tools: calculator.",
    "demonstrations.jsonl:3: a demonstrated call of “calculator” is invalid, as in 1 more. unknown key “expresion” in the call. Did you mean “expression”? Known keys: expression.",
    "demonstrations.jsonl:5: a demonstrated call of “calculator” is invalid. expression must be text, but is 2. Numbers, + - * / and parentheses, for example 74 + 50 - 47.",
    expect.stringMatching(
      /^demonstrations\.jsonl:6: 1 of the 6 demonstrations of warmStart\.demonstrations has no room in the policy's context of 256 tokens: line 6 \(\d+ tokens\)\.$/,
    ),
  ]);
  const nothing = jsonLines("nothing.jsonl", []);
  expect(await refusals(`warmStart.demonstrations=${nothing}`)).toEqual([
    `override warmStart.demonstrations=${nothing}: the file contains no demonstrations. Add rows to it, or remove warmStart.`.replaceAll(
      `${folder}/`,
      "",
    ),
  ]);
});

test("a stop token that is no token is refused before anything starts", async () => {
  const refusedBy = (token: string) => refusals(`policy.config.stopTokens=["${token}"]`);
  expect(await refusedBy("<|im_end|>")).toEqual([]);
  expect(await refusedBy("<nope>")).toEqual([
    expect.stringContaining("policy.config.stopTokens contains “<nope>”, which is not in the vocabulary."),
  ]);
});

test("of many rows the longest are counted", async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => task(index === 12_345 ? 400 : 20));
  const path = jsonLines("many.jsonl", rows);
  const [problem] = await refusals(`dataset.train.config.path=${path}`);
  expect(problem).toMatch(/^many\.jsonl:12346: 1 of the 20000 tasks of dataset\.train has no room/);
  const options = ["policy.config.architecture.max_position_embeddings=4096"];
  const { preflight } = await checkPipeline(small, {
    overrides: [`dataset.train.config.path=${path}`, ...options],
  });
  expect(preflight.counted?.rows[0]).toMatchObject({ name: "dataset.train", rows: 20_000, counted: 32 });
});

test("rows are counted from the longest on, until the others fit; what can't be framed is told by its reason", () => {
  const rows = [1, 900, 500, 20, 800, 3];
  const frame = (row: number) => {
    if (row === 20) throw new Error("twenty");
    return row / 2;
  };
  const options = { rows, bytes: (row: number) => row, frame, reason: String, room: 300 };
  expect(countRows(options)).toEqual({
    rows: 6,
    counted: 6,
    longest: 450,
    mayBeMore: false,
    refused: new Map([["Error: twenty", [20]]]),
    tooLong: [
      { row: 900, tokens: 450 },
      { row: 800, tokens: 400 },
    ],
  });
  const many = Array.from({ length: 1000 }, () => 2000);
  expect(countRows({ ...options, rows: many })).toMatchObject({ counted: 256, mayBeMore: true });
});

test("rows that can't be framed are counted as far as they were looked at", async () => {
  const config = readFileSync(join(root, "pipelines/calculator/tokenizer/tokenizer_config.json"), "utf8");
  const template = join(folder, "endless.jinja");
  writeFileSync(template, String(JSON.parse(config).chat_template).replaceAll("<|im_", "[im_"));
  const path = (count: number) =>
    jsonLines(
      `endless-${count}.jsonl`,
      Array.from({ length: count }, () => demonstration("calculator", { expression: "1 + 1" })),
    );
  const roomy = "policy.config.architecture.max_position_embeddings=4096";
  const refused = (count: number) =>
    refusals(roomy, `policy.config.chatTemplate=${template}`, `warmStart.demonstrations=${path(count)}`);
  expect(await refused(2)).toContainEqual(
    expect.stringMatching(
      /^endless-2\.jsonl:1: 2 of the 2 demonstrations of warmStart\.demonstrations can't be converted to tokens: line 1, line 2\. The chat template/,
    ),
  );
  expect(await refused(50)).toContainEqual(
    expect.stringMatching(/^endless-50\.jsonl:1: at least 32 of the 50 demonstrations of .* and 29 more\. /),
  );
});

test("validate shows a prompt as the policy reads it, and what was counted", async () => {
  const text = await runCommand(registerValidate, "validate", small);
  expect(text).toMatch(
    /^dataset\.train: up to \d+ of 256 tokens \(counted: the 32 longest of 4,000 rows\)$/m,
  );
  expect(text).toMatch(/^warmStart\.demonstrations: up to \d+ of 256 tokens/m);
  expect(text).toMatch(/^the prompt at .*chain-sum-small\.train\.jsonl:1, \d+ tokens:$/m);
  expect(text).toContain("  calculator(expression)<|im_end|>\n  <|im_start|>user\n  State the final answer");
  const json = JSON.parse(await runCommand(registerValidate, "validate", small, "--json"));
  expect(json.preflight.prompt).toMatchObject({ text: expect.stringContaining("<|im_start|>assistant") });
});

test("validate says when an update can't be had with the memory that the trainer is given", async () => {
  const notes = async (...given: string[]): Promise<string[]> =>
    JSON.parse(await runCommand(registerValidate, "validate", small, "--json", ...given)).notes;
  expect(await notes()).toEqual([]);
  const [note, ...others] = await notes("--set", "trainer.config.memory=100");
  expect(others).toEqual([]);
  expect(note).toMatch(
    /^memory: an update on \d+ trajectories of \d+ tokens, .* would hold 2\d\d MB at least, .* TRAINING_MEMORY_SHORT/,
  );
  expect(await notes("--set", "trainer.config.memory=100", "--set", "steps=0")).toEqual([]);
  const vast = { hidden_size: 8192, num_hidden_layers: 128, intermediate_size: 65_536 };
  const architecture = Object.entries(vast).map(
    ([key, value]) => `policy.config.architecture.${key}=${value}`,
  );
  expect(await notes("--set", "steps=0", ...architecture.flatMap((one) => ["--set", one]))).toEqual([
    expect.stringMatching(
      /^memory: sampling would hold 927,758 MB of weights and at least .* SAMPLING_MEMORY_SHORT$/,
    ),
  ]);
});

test("a policy that must be built first is asked then, before anything trains", async () => {
  const plugin = join(folder, "policy-late");
  mkdirSync(plugin);
  cpSync(join(root, "plugins/policy-onnx/everturn.plugin.json"), join(plugin, "everturn.plugin.json"));
  const onnx = JSON.stringify(join(root, "plugins/policy-onnx/index.ts"));
  const late = "(config, folder) => (folder === undefined ? undefined : onnx.framing(config, folder))";
  const code = `import onnx from ${onnx};\nexport default { ...onnx, framing: async ${late} };\n`;
  writeFileSync(join(plugin, "index.ts"), code);
  const path = jsonLines("late.jsonl", [task(2), task(900)]);
  const overrides = [`policy.plugin=${plugin}`, `dataset.train.config.path=${path}`];
  const plan = await loadPlan(small, { overrides });
  const runs = join(folder, "runs");
  const run = await createRunFolder(plan, { runs });
  const initialize = initializePolicy(policyWorker(openRuns(runs)));
  for (const attempt of ["first", "second"]) {
    await expect(initialize({ run }), attempt).rejects.toMatchObject({
      code: "WRONG_CONFIGURATION",
      message: expect.stringContaining("late.jsonl:2: 1 of the 2 tasks of dataset.train has no room"),
    });
  }
});

test("the action format is the pipeline's, or else that in which the policy's chat template writes calls", async () => {
  const template = join(folder, "tags.jinja");
  writeFileSync(
    template,
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for t in m.tool_calls or [] %}<tool_call>\n<function={{ t.function.name }}>\n{% for k, v in t.function.arguments|items %}<parameter={{ k }}>\n{{ v if v is string else v|tojson }}\n</parameter>\n{% endfor %}</function>\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
  );
  const plain = jsonLines("plain.jsonl", [
    {
      messages: [
        { role: "user", content: "1 + 1" },
        { role: "assistant", content: "2" },
      ],
    },
  ]);
  const written = [
    `policy.config.chatTemplate=${template}`,
    `warmStart.demonstrations=${plain}`,
    "rollout.templateCheck=off", // the template shows no tools
  ];
  const formatOf = async (overrides: string[]) => (await loadPlan(small, { overrides })).rollout.format;
  expect(await formatOf([])).toBe("hermes");
  expect(await formatOf(written)).toBe("qwen3-coder");
  expect(await formatOf([...written, "rollout.format=react"])).toBe("react");
});

test("an action format that the policy can't constrain, or that demonstrations are not written in, is refused", async () => {
  const constrained = "policy.config.sampling={ toolCalls: constrained }";
  expect(await refusals(constrained)).toEqual([]);
  expect(await refusals(constrained, "rollout.format=kimi-k2")).toContainEqual(
    expect.stringMatching(/rollout\.format is kimi-k2, but the policy can constrain calls only in hermes/),
  );
  const path = jsonLines("called.jsonl", [demonstration("calculator", { expression: "1 + 1" })]);
  const shown = `warmStart={ demonstrations: ${path}, steps: 1 }`;
  expect(await refusals(shown, "rollout.format=hermes")).toEqual([]);
  expect(await refusals(shown, "rollout.format=glm-4.5")).toEqual([
    expect.stringMatching(/rollout\.format is glm-4\.5, but .* writes the demonstrated calls as hermes/),
  ]);
  const expression = (pattern: string) => `rollout.expression={ pattern: '${pattern}', example: x }`;
  expect(await refusals(expression("(?<function>a)"))).toEqual([]);
  expect(await refusals(expression("(?<function>a)"), "rollout.format=react")).toEqual([
    expect.stringMatching(/rollout\.format is set, but rollout\.expression is set too/),
  ]);
  expect(await refusals(expression("(?<function>a"))).toEqual([
    expect.stringMatching(/rollout\.expression\.pattern is no regular expression: .*missing closing/),
  ]);
  expect(await refusals("rollout.format=qwen3-codr")).toEqual([
    expect.stringMatching(/rollout\.format .*qwen3-codr.*Did you mean “qwen3-coder”/),
  ]);
});

test("a chat template that writes earlier turns anew is told, or refused where it must not", async () => {
  const config = readFileSync(join(root, "pipelines/calculator/tokenizer/tokenizer_config.json"), "utf8");
  const template = String(JSON.parse(config).chat_template);
  const rewriting = join(folder, "rewriting.jinja");
  const answer = "(message.content or '')";
  expect(template).toContain(answer);
  writeFileSync(
    rewriting,
    template.replace(answer, `${answer} + ('' if loop.index0 > loop.length - 4 else '~')`),
  );
  const other = `policy.config.chatTemplate=${rewriting}`;
  const notes = async (...overrides: string[]) => (await checkPipeline(small, { overrides })).notes;
  expect(await notes("rollout.templateCheck=strict"), "its own template writes nothing anew").toEqual([]);
  expect(await notes(other)).toEqual([
    "chat template: it writes earlier messages differently later on; a trajectory keeps them as they were",
  ]);
  expect(await notes(other, "rollout.templateCheck=off")).toEqual([]);
  expect(await refusals(other, "rollout.templateCheck=strict")).toEqual([
    expect.stringMatching(
      /rollout\.templateCheck is strict, but turn by turn .*: it writes earlier messages differently/,
    ),
  ]);
});
