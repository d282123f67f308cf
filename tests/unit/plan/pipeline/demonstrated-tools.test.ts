import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isEverturnError } from "../../../../src/base/errors/everturn-error.ts";
import type { SessionRequest } from "../../../../src/contracts/session.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { checkPipeline, loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { readDemonstrations } from "../../../../src/plan/pipeline/read/demonstrations.ts";
import { rowToolsReader } from "../../../../src/plan/pipeline/read/row-tools.ts";
import {
  inDemonstratedForm,
  rowToolsFor,
  toolsOfChats,
} from "../../../../src/plan/pipeline/resolve/demonstrated-tools.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { openTrajectorySession } from "../../../../src/work/agents/trajectory-session.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const small = join(root, "tests", "pipelines", "small.yaml");
const agent = `loop={ plugin: loop-agent, config: { module: ${join(root, "pipelines/agent/agent.ts")} } }`;
const folder = temporaryFolder();

const weather = {
  name: "weather",
  description: "The weather of a city.",
  parameters: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { city: { type: "string", description: "Its name." }, day: { type: "string" } },
    required: ["city", "day"],
  },
};
const map = { name: "map", description: "A map.", parameters: { type: "object", properties: {} } };
const sent = (...tools: object[]) => tools.map((one) => ({ type: "function", function: one }));

/** The same tool as another library writes it. */
const rewritten = {
  name: "weather",
  description: "The weather of a city.",
  parameters: {
    required: ["day", "city"],
    properties: { day: { type: "string" }, city: { description: "Its name.", type: "string" } },
    type: "object",
  },
};

/** A demonstration that calls a tool. */
const row = (more: object, name = "weather", given: object = { city: "Oslo", day: "today" }) => ({
  messages: [
    { role: "user", content: "Is it warm?" },
    { role: "assistant", content: "", tool_calls: [{ function: { name, arguments: given } }] },
    { role: "tool", content: "-3" },
    { role: "assistant", content: "No." },
  ],
  ...more,
});

let files = 0;
function demonstrations(...rows: object[]): string {
  const path = join(folder, `rows-${++files}.jsonl`);
  writeFileSync(path, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

const overrides = (path: string, ...more: string[]) => [
  agent,
  "tools=[]",
  "policy.config.architecture.max_position_embeddings=512",
  `warmStart.demonstrations=${path}`,
  ...more,
];

/** What the pipeline with these demonstrations is refused with: the code and the message of each problem. */
async function refusals(path: string, ...more: string[]): Promise<[code: string, message: string][]> {
  try {
    await loadPlan(small, { overrides: overrides(path, ...more) });
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "WRONG_CONFIGURATION") throw error;
    return error.problems.map(({ code, message }) => [code, message.replaceAll(`${folder}/`, "")]);
  }
  return [];
}

test("an agent's prompts show its tools exactly as the demonstrations do, in whatever order and form it sends them", async () => {
  const path = demonstrations(row({ tools: sent(weather, map) }));
  const plan = await loadPlan(small, { overrides: overrides(path) });
  expect(plan.demonstratedTools).toEqual([weather, map]);
  const asked: SessionRequest[] = [];
  const place = { id: "r/step-0001/t/0", run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 };
  const session = await openTrajectorySession(place, plan, openRunStore(folder), async (one) => {
    const turn = asked.push(one);
    return {
      turn,
      head: `head${turn}`,
      action: "No.",
      finishReason: "stop",
      tokens: { prompt: 1, action: 1 },
    };
  });
  const request = {
    path: "chat" as const,
    stream: false,
    includeUsage: false,
    model: "policy",
    messages: [{ role: "user" as const, content: "Is it warm?" }],
    toolChoice: "auto" as const,
  };
  await session.answer({ ...request, tools: [map, rewritten] }, "k");
  const [chat] = await readDemonstrations(path, rowToolsFor(plan));
  if (chat === undefined) throw new Error("it has a row");
  const shown = toolsOfChats(plan)(chat);
  expect(JSON.stringify(asked[0]?.tools)).toBe(JSON.stringify(shown));
  const framing = createFraming(await loadTokenizer(join(root, "pipelines/calculator/tokenizer")));
  const prompt = framing.framePrompt(chat.messages.slice(0, 1), asked[0]?.tools ?? []);
  expect(prompt.text).toContain("weather(city, day)\nmap()");
  const { tokens } = framing.frameDemonstration(chat.messages, shown);
  expect(tokens.slice(0, prompt.tokens.length)).toEqual(prompt.tokens);
});

test("tools that are not demonstrated come last, and only the form of the others changes", () => {
  const other = { ...rewritten, description: "Another.", name: "sum" };
  const enlarged = {
    ...rewritten,
    parameters: { ...rewritten.parameters, additionalProperties: false, required: ["city"] },
  };
  const formed = inDemonstratedForm([other, map, enlarged], [weather, map]);
  expect(formed.map(({ name }) => name)).toEqual(["weather", "map", "sum"]);
  expect(JSON.stringify(formed[0]?.parameters)).toBe(
    JSON.stringify({ ...weather.parameters, required: ["city"], additionalProperties: false }),
  );
  expect(formed[2]).toBe(other);
  expect(JSON.stringify(inDemonstratedForm([other, rewritten]))).toBe(JSON.stringify([other, rewritten]));
});

test("the plan has the tools of all demonstrations, and which of them some do not show", async () => {
  const both = demonstrations(
    row({ tools: sent(weather) }),
    row({ tools: JSON.stringify(sent(map, weather)) }),
  );
  const plan = await loadPlan(small, { overrides: overrides(both) });
  expect(plan.demonstratedTools).toEqual([weather, { ...map, sometimes: true }]);
  const bare = demonstrations({ messages: row({}).messages.toSpliced(1, 2) });
  expect((await loadPlan(small, { overrides: overrides(bare) })).demonstratedTools).toEqual([]);
  const hiding = join(folder, "hiding.jinja");
  writeFileSync(
    hiding,
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
  );
  const hidden = [`policy.config.chatTemplate=${hiding}`, "rollout.format=hermes"];
  expect((await loadPlan(small, { overrides: overrides(both, ...hidden) })).demonstratedTools).toEqual([]);
});

test("demonstrations of an agent without the pipeline's tools are framed with their own, and others as before", async () => {
  const path = demonstrations(row({ tools: sent(weather) }, "calculator", { expression: "1" }));
  expect(await refusals(path)).toEqual([
    [
      "DEMONSTRATED_CALL_INVALID",
      expect.stringContaining("“calculator” is invalid. The row has no such tool. Its tools: weather."),
    ],
  ]);
  const usual = ["loop={ plugin: loop-tool-agent, config: {} }", "tools=[tool-calculator]"];
  const { plan, data } = await checkPipeline(small, { overrides: overrides(path, ...usual) });
  expect(plan.demonstratedTools).toBeUndefined();
  expect(data.demonstrations?.[0]).not.toHaveProperty("tools");
});

test("calls of an agent's tools that no row shows are refused with the advice to show them", async () => {
  expect(await refusals(demonstrations(row({}), row({})))).toEqual([
    [
      "DEMONSTRATED_TOOL_NOT_SHOWN",
      expect.stringMatching(
        /rows-\d+\.jsonl:1: a demonstrated call of “weather” is invalid, as in 1 more\. .*add `tools` to each row/,
      ),
    ],
  ]);
  expect(
    await refusals(demonstrations(row({ tools: sent(weather) }, "weather", { city: 1, day: "" }))),
  ).toEqual([["DEMONSTRATED_CALL_INVALID", expect.stringContaining("city must be")]]);
  const broken = { ...map, parameters: { $ref: "#/definitions/gone" } };
  expect(await refusals(demonstrations(row({ tools: sent(broken) }, "map", {})))).toEqual([]);
});

test.each([
  ["{", "tools is not JSON"],
  [{ weather }, "tools is an object: send a list"],
  [[{ type: "function", function: { parameters: {} } }], "tools[0].function.name is"],
  [[{ type: "web_search" }], "tools[0] is of type"],
])("a row whose tools are %j is refused with the field", async (tools, reason) => {
  expect(await refusals(demonstrations(row({ tools })))).toEqual([
    ["DEMONSTRATED_TOOLS_INVALID", expect.stringContaining(reason)],
  ]);
});

test("tools in the form of OpenAI's responses are read, and rows with the same tools share them", () => {
  const read = rowToolsReader();
  const flat = [{ type: "function", ...map }];
  const tools = read({ tools: flat }, "");
  expect(tools).toEqual([map]);
  expect(read({ tools: structuredClone(flat) }, "")).toBe(tools);
  expect(read({ tools: null }, "")).toBeUndefined();
});
