import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collected } from "../../../../src/base/async/collected.ts";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import { exportLines } from "../../../../src/control/operations/export-trajectories.ts";
import { listTrajectories } from "../../../../src/control/operations/list-trajectories.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { sampledTokenProblems } from "../../../../src/plan/pipeline/check/sampled-tokens.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { readDemonstrations } from "../../../../src/plan/pipeline/read/demonstrations.ts";
import { frameChat } from "../../../../src/plan/pipeline/read/examples.ts";
import { rowToolsReader } from "../../../../src/plan/pipeline/read/row-tools.ts";
import { readTrajectory } from "../../../../src/results/report/read-trajectory.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { tokenizerFolder } from "../../../support/sample-plan.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const framing = createFraming(await loadTokenizer(tokenizerFolder));
let files = 0;

function written(text: string, kind = "jsonl"): string {
  const path = join(folder, `atif-${++files}.${kind}`);
  writeFileSync(path, text);
  return path;
}

const user = { step_id: 1, source: "user", message: "1 + 2?" };
const ids = (prompt_token_ids: number[], completion_token_ids: number[], logprobs?: number[]) => ({
  prompt_token_ids,
  completion_token_ids,
  logprobs, // JSON leaves it out if it is undefined
});
const agentStep = (step_id: number, message: string, more: object = {}) => ({
  step_id,
  source: "agent",
  message,
  ...more,
});
const atif = (steps: object[], more: object = {}) => ({
  schema_version: "ATIF-v1.8",
  agent: { name: "other", version: "1" },
  steps,
  ...more,
});
const read = (...rows: object[]) =>
  readDemonstrations(written(rows.map((row) => `${JSON.stringify(row)}\n`).join("")));

/** The problems with which a file is refused. */
async function refusals(path: string): Promise<string[]> {
  try {
    await readDemonstrations(path);
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return error.problems.map(({ message }) => message.replaceAll(`${folder}/`, ""));
  }
  return [];
}

test("a run's trajectories return with the tokens and log-probabilities that it recorded", async () => {
  const run = await writeSampleRun();
  const path = written("");
  const names = await collected(listTrajectories(run, { outcome: "answered" }));
  const lines = await collected(exportLines(run, "atif", listTrajectories(run, { outcome: "answered" })));
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const chats = await readDemonstrations(path);
  expect(chats).toHaveLength(names.length);
  const reader = trajectoryReader(run);
  for (const [index, { id }] of names.entries()) {
    const [, stage = "", task = "", sample] = id.split("/");
    const { segments } = await readTrajectory(reader, { id, stage, task, sample: Number(sample) });
    const logprobs = segments.flatMap((one) => one.logprobs ?? one.tokens.map(() => 0));
    const mask = segments.flatMap((one) => one.tokens.map(() => (one.origin === "action" ? 1 : 0)));
    const tokens = segments.flatMap((one) => one.tokens);
    expect(chats[index]?.sampled).toEqual({ tokens, mask, logprobs });
    expect(frameChat(framing, chats[index]!, [])).toEqual({ tokens, mask });
  }
});

const fixture = (name: string) =>
  join(import.meta.dirname, "..", "..", "..", "fixtures", "atif", `${name}.trajectory.json`);

test("trajectories that Harbor's own models wrote", async () => {
  const [summary, ...others] = (await readDemonstrations(fixture("terminal"))).toReversed();
  const [chat] = others;
  expect(others).toHaveLength(1);
  expect(chat?.messages.map(({ role, content }) => [role, content.slice(0, 20)])).toEqual([
    ["user", "Write the sum of num"],
    ["assistant", "Analysis: There is a"], // two commands
    ["user", "$ cat numbers.txt\n1\n"], // their common output
    ["assistant", "I will add them up"],
    ["user", "Previous response ha"],
    ["assistant", "Analysis: Two number"],
  ]);
  expect(chat?.messages[1]?.tool_calls).toMatchObject([
    { function: { name: "bash_command", arguments: { keystrokes: "cat numbers.txt\n", duration: 0.1 } } },
    { function: { name: "bash_command" } },
  ]);
  expect(chat?.messages[5]).toMatchObject({ reasoning_content: "1 + 2 = 3", tool_calls: [{}, {}] });
  expect(summary?.messages).toHaveLength(4);
  expect(summary?.given).toEqual(new Set([1]));
});

test.each(["sampled", "nulls"])("Harbor's token ids and log-probabilities: %s", async (name) => {
  const chats = await readDemonstrations(fixture(name));
  expect(chats.map(({ sampled }) => sampled)).toEqual([
    {
      tokens: [12, 7, 30, 41, 9, 2, 50, 51, 52, 60, 2],
      mask: [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1],
      logprobs: [0, 0, 0, -0.7346915602684021, -1.1920928955078125e-7, -2.5, 0, 0, 0, -0.25, -0.125],
    },
  ]);
});

test("without token ids, the chat template frames the same messages", async () => {
  const tools = [{ type: "function", function: { name: "calculator", parameters: { type: "object" } } }];
  const call = {
    tool_call_id: "c",
    function_name: "calculator",
    arguments: { expression: "1 + 2", precision: null },
  };
  const observation = {
    results: [{ source_call_id: "c", content: [{ type: "text", text: "3" }], extra: null }],
  };
  const steps = [
    { step_id: 1, source: "system", message: "Add.", timestamp: null },
    { ...user, step_id: 2 },
    agentStep(3, "", {
      tool_calls: [call],
      observation,
      reasoning_content: "Sum it.",
      metrics: { prompt_tokens: 9 },
    }),
    { step_id: 4, source: "system", message: "Summarized.", observation: { results: [] } },
    agentStep(5, "3", { metrics: { prompt_token_ids: [], completion_token_ids: [] } }),
    agentStep(6, "not the model's", { llm_call_count: 0 }),
    { step_id: 7, source: "user", message: "Bye." },
  ];
  const path = written(
    JSON.stringify(atif(steps, { agent: { name: "o", version: "1", tool_definitions: tools } })),
  );
  const [chat] = await readDemonstrations(path, rowToolsReader());
  expect(chat).toEqual({
    messages: [
      { role: "system", content: "Add." },
      { role: "user", content: "1 + 2?" },
      {
        role: "assistant",
        content: "",
        reasoning_content: "Sum it.",
        tool_calls: [
          {
            type: "function",
            id: "c",
            function: { name: "calculator", arguments: { expression: "1 + 2", precision: null } },
          },
        ],
      },
      { role: "tool", name: "calculator", content: "3" },
      { role: "assistant", content: "3" },
    ],
    tools: [{ name: "calculator", description: "", parameters: { type: "object", properties: {} } }],
  });
});

test("copied context and steps without a model carry no loss", async () => {
  const steps = [
    user,
    agentStep(2, "3", { is_copied_context: true }),
    agentStep(3, "", { llm_call_count: 0 }),
    agentStep(4, "4"),
  ];
  const [chat] = await read(atif(steps));
  const messages = chat?.messages ?? [];
  const { tokens, mask } = frameChat(framing, chat!, []);
  const whole = framing.frameDemonstration(messages, []);
  expect(tokens).toEqual(whole.tokens);
  const last = framing.frameDemonstration([messages[0]!, messages[3]!], []).mask.filter((one) => one === 1);
  expect(mask.filter((one) => one === 1)).toEqual(last);
  expect(mask.at(-1)).toBe(1);
});

test("a prompt that does not continue the tokens before it begins another row", async () => {
  const steps = [
    user,
    agentStep(2, "a", { metrics: ids([1, 2], [3], [-0.1]) }),
    agentStep(3, "b", { metrics: ids([1, 2, 3, 4], [5, 6], [-0.2, -0.3]) }),
    agentStep(4, "c", { metrics: ids([1, 9], [7]) }),
  ];
  const sub = { ...atif([user, agentStep(2, "sub", { metrics: ids([8], [8]) })]), trajectory_id: "sub" };
  const chats = await read(atif(steps, { subagent_trajectories: [sub] }));
  expect(
    chats.map(({ sampled, given, messages }) => ({ sampled, given, last: messages.at(-1)?.content })),
  ).toEqual([
    {
      sampled: {
        tokens: [1, 2, 3, 4, 5, 6],
        mask: [0, 0, 1, 0, 1, 1],
        logprobs: [0, 0, -0.1, 0, -0.2, -0.3],
      },
      given: undefined,
      last: "b",
    },
    { sampled: { tokens: [1, 9, 7], mask: [0, 0, 1] }, given: new Set([1, 2]), last: "c" },
    { sampled: { tokens: [8, 8], mask: [0, 1] }, given: undefined, last: "sub" },
  ]);
});

test("a step that had no room for an action is given", async () => {
  const steps = [
    user,
    agentStep(2, "a", { metrics: ids([1], [2], [-1]) }),
    agentStep(3, "", { metrics: ids([1, 2, 3], [], []) }),
  ];
  const [chat, ...others] = await read(atif(steps));
  expect(others).toEqual([]);
  expect(chat?.sampled).toEqual({ tokens: [1, 2], mask: [0, 1], logprobs: [0, -1] });
});

test("images are left out where token ids contain what the model read", async () => {
  const image = { type: "image", source: { media_type: "image/png", path: "a.png" } };
  const message = [{ type: "text", text: "[image 1]" }, image];
  const [chat] = await read(atif([{ ...user, message }, agentStep(2, "3", { metrics: ids([1], [2]) })]));
  expect(chat?.messages[0]?.content).toBe("[image 1]");
});

test("chats and trajectories may share a file, and a .json file is one row", async () => {
  const chat = {
    messages: [
      { role: "user", content: "1?" },
      { role: "assistant", content: "1" },
    ],
  };
  const trajectory = atif([user, agentStep(2, "3")]);
  expect((await read(chat, trajectory)).map(({ messages }) => messages.at(-1)?.content)).toEqual(["1", "3"]);
  const pretty = written(JSON.stringify(trajectory, null, 2), "json");
  expect(await readDemonstrations(pretty)).toHaveLength(1);
});

const call = { tool_call_id: "c", function_name: "f", arguments: {} };
test.each<[name: string, row: object, message: RegExp]>([
  [
    "an unknown version",
    { ...atif([user]), schema_version: "ATIF-v2.0" },
    /1:19: schema_version is “ATIF-v2.0”, but must be one of .*ATIF-v1.8/,
  ],
  ["no agent", { schema_version: "ATIF-v1.8", steps: [user] }, /the row lacks “agent”|agent/],
  ["no message", atif([{ step_id: 1, source: "user" }]), /steps\[0\].*message/],
  ["an unknown field", atif([{ ...user, content: "x" }]), /steps\[0\].*content/],
  [
    "arguments as text",
    atif([user, agentStep(2, "", { tool_calls: [{ ...call, arguments: "{}" }] })]),
    /steps\[1\].tool_calls\[0\].arguments/,
  ],
  ["a step that is missing", atif([user, agentStep(3, "3")]), /:1: steps\[1\].step_id is 3, but must be 2/],
  [
    "calls of the user",
    atif([{ ...user, tool_calls: [call] }, agentStep(2, "3")]),
    /:1: steps\[0\].tool_calls is only for the agent/,
  ],
  [
    "the result of another step's call",
    atif([
      user,
      agentStep(2, "", { tool_calls: [call], observation: { results: [{ source_call_id: "d" }] } }),
    ]),
    /:1: steps\[1\].observation.results\[0\].source_call_id is “d”, but must be one of c/,
  ],
  [
    "an image",
    atif([
      { ...user, message: [{ type: "image", source: { media_type: "image/png", path: "a.png" } }] },
      agentStep(2, "3"),
    ]),
    /:1: steps\[0\].message\[0\] is a part of type image, but demonstrations without token ids contain only text/,
  ],
  [
    "no step of a model",
    atif([user, agentStep(2, "3", { llm_call_count: 0 })]),
    /:1: steps is without a step that a model/,
  ],
  [
    "log-probabilities of other tokens",
    atif([user, agentStep(2, "3", { metrics: ids([1], [2, 3], [-1]) })]),
    /:1: steps\[1\].metrics.logprobs is a list of 1, but there are 2 completion_token_ids/,
  ],
  [
    "token ids of some steps",
    atif([user, agentStep(2, "3", { metrics: ids([1], [2]) }), agentStep(3, "4")]),
    /:1: steps\[2\].metrics lacks prompt_token_ids or completion_token_ids, which steps\[1\] has/,
  ],
  [
    "a token id that is not one",
    atif([user, agentStep(2, "3", { metrics: ids([1.5], [2]) })]),
    /steps\[1\].metrics.prompt_token_ids\[0\] must be a whole number, but is 1.5/,
  ],
  [
    "a wrong sub-agent",
    atif([user, agentStep(2, "3")], { subagent_trajectories: [atif([agentStep(2, "x")])] }),
    /subagent_trajectories\[0\].steps\[0\].step_id is 2/,
  ],
])("%s is refused with its place", async (_, row, message) => {
  const [first] = await refusals(written(`${JSON.stringify(row)}\n`));
  expect(first).toMatch(message);
  expect(first).toMatch(/^atif-\d+\.jsonl:1/);
});

test("a file that ends too soon is refused at the bracket that is never closed", async () => {
  const text = JSON.stringify(atif([user, agentStep(2, "3")]), null, 2);
  const path = written(text.slice(0, text.lastIndexOf("}")), "json");
  expect(await refusals(path)).toEqual([expect.stringMatching(/^atif-\d+\.json:\d+:\d+: .*never closed/)]);
});

const small = join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml");
const calculator = join(small, "..", "..", "..", "pipelines", "calculator", "tokenizer");

test("token ids of another tokenizer are refused before a run", async () => {
  const tokenizer = await loadTokenizer(calculator);
  const vocabulary = { size: tokenizer.vocabularySize, decode: tokenizer.decode };
  const own = tokenizer.encode("The sum is 3.<|im_end|>");
  const step = (completion: number[]) => agentStep(2, "The sum is 3.", { metrics: ids([1], completion) });
  const found = async (completion: number[]) =>
    sampledTokenProblems(vocabulary, await read(atif([user, step(completion)])), "sft.demonstrations");
  expect(await found(own)).toEqual([]);
  const [outside] = await found([50_000]);
  expect(outside?.error.message).toMatch(
    /jsonl:1: the row's token ids do not fit .*: 50000 is not one of its \d+ tokens/,
  );
  const path = written(`${JSON.stringify(atif([user, step(own.map((id) => (id + 7) % 256))]))}\n`);
  const refused = await loadPlan(small, { overrides: [`warmStart.demonstrations=${path}`] }).catch(String);
  expect(refused).toMatch(
    /jsonl:1: the row's .*: the text of the ids is “.*”, and the messages are “The sum is 3”/,
  );
  expect(refused).toContain("remove prompt_token_ids");
});
