import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { defined } from "../../src/base/records/defined.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { openRunStore } from "../../src/run/store/open-run-store.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readRows } from "../../src/run/trajectory/segments.ts";
import { trajectoryOf } from "../../src/run/trajectory/trajectory-of.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { folderOf, initializeVersion } from "../support/versions.ts";

const folder = temporaryFolder();
const file = (name: string) => join(import.meta.dirname, "..", "one-file", `${name}.ts`);
const call = '<tool_call>{"name": "length", "arguments": {"value": 1, "unit": "km"}}</tool_call>';
const patience = 120_000;

/** A small model with random weights behind OpenAI's protocol, whose base URL is returned. */
async function servedModel(): Promise<string> {
  const small = join(import.meta.dirname, "..", "pipelines", "small.yaml");
  const context = "policy.config.architecture.max_position_embeddings=2048"; // its random words are long when read again
  const plan = await loadPlan(small, { overrides: [context] });
  const run = await openRunFolder(folder, await createRunFolder(plan, { runs: folder }));
  await initializeVersion(run, 0);
  const server = start("serve", await folderOf(run, 0), "--port", "0");
  onTestFinished(() => server.killGroup());
  await vi.waitFor(() => expect(server.stdout() + server.stderr()).toContain("Ctrl-C"), patience);
  const [, url = ""] = /OPENAI_BASE_URL=(\S+)/.exec(server.stdout()) ?? [];
  return url;
}

test("tasks name their loops: without tools, with sub-agents, with people, sleep and tools of the loop's own, with a user that a model simulates", {
  timeout: 4 * patience,
}, async () => {
  const url = await servedModel();
  const rules = "Ask: {instruction}"; // its context is short
  const agents = [undefined, "direct", "careful", "reviewed", "talk"];
  const tasks = join(folder, "tasks.jsonl");
  const rows = agents.map((agent_name) =>
    defined<object>({
      data_source: "loops",
      prompt: [
        ...(agent_name === "talk" ? [] : [{ role: "user", content: "How many metres are 1 km?" }]),
        ...(agent_name === "talk" ? [{ role: "system", content: "You help." }] : []),
      ],
      reward_model: { ground_truth: "1000" },
      agent_name,
      extra_info: { interaction_kwargs: { instruction: "1 km in m" } },
    }),
  );
  writeFileSync(tasks, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const dataset = { plugin: "dataset-jsonl", config: { path: tasks } };
  const pipeline = writeScriptedPipeline(folder, [[`I look. ${call}`, "It is 1000.", "1000"]], {
    dataset: { train: dataset, validation: dataset },
    tools: [
      { plugin: file("length") },
      { plugin: "tool-ask", approvalTimeout: "200ms" },
      { plugin: file("board"), functions: ["pin"] },
      { plugin: "tool-simulated-user", config: { url, model: "policy", rules, maxTokens: 12 } },
    ],
    loop: { plugin: "loop-tool-agent", tools: ["length"] },
    loops: {
      direct: { plugin: "loop-tool-agent", tools: [], config: { maxTurns: 1 } },
      careful: { plugin: file("careful"), tools: ["length"] },
      reviewed: { plugin: file("reviewed"), tools: ["length"], config: { drafts: 1 } },
      talk: { plugin: "loop-simulated-user", tools: ["length"], config: { maxTurns: 3 } },
    },
    rollout: { batchSize: agents.length },
  });
  const ended = await everturn("run", pipeline, "--runs", folder, "--json");
  expect(ended.code, ended.stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(ended.stdout);
  const { root } = runFolder(folder, run);
  const reader = trajectoryReader({ store: openRunStore(root) });
  const records = new Map(
    (await stageRecords(root, "step-0001")).map((record) => [record.task.agent_name, record]),
  );
  expect(records.size).toBe(agents.length);
  const of = (agent: string | undefined): Trajectory => {
    const record = records.get(agent);
    if (record === undefined) throw new Error(`no trajectory of ${agent}`);
    return record;
  };
  const rowsOf = async ({ id, head }: Trajectory) =>
    (await readRows(reader, trajectoryOf(id), head)).rows.map((row) => row.map(({ text }) => text));

  expect(of(undefined)).toMatchObject({ outcome: "answered", turns: [{ toolCalls: [{ valid: true }] }, {}] });
  const [[prompt = ""] = []] = await rowsOf(of(undefined));
  expect(prompt).toContain("# Tools\nlength(value, unit)<|im_end|>");

  expect(of("direct")).toMatchObject({ outcome: "turn-limit", turns: [{ toolCalls: [] }] });
  expect((await rowsOf(of("direct")))[0]?.[0]).not.toContain("# Tools");

  const careful = of("careful");
  expect(careful.turns[0]?.toolCalls).toMatchObject([
    { tool: "ask", byLoop: true, approval: "timed-out", arguments: { question: "Is this right: I look.?" } },
    { tool: "pin", byLoop: true, valid: true, observation: "1" },
  ]);
  expect(careful.turns[1]?.said?.[0]?.content).toMatch(/^The person said: .* The board has 1 note\.$/);
  expect(careful).toMatchObject({ outcome: "answered", answer: "It is 1000." });

  const reviewed = of("reviewed");
  expect(reviewed.turns.map(({ agent, action, said }) => ({ agent, action, said }))).toEqual([
    { action: `I look. ${call}` },
    {
      agent: "critic",
      action: "It is 1000.",
      said: [
        { role: "user", content: expect.stringContaining("You review") },
        { role: "user", content: `The answer: I look. ${call}` },
      ],
    },
    { action: "1000", said: [{ role: "user", content: "A critic says: It is 1000." }] },
  ]);
  expect(reviewed).toMatchObject({ outcome: "answered", answer: "1000", success: true });
  const [critic, main, ...others] = await rowsOf(reviewed);
  expect(others).toEqual([]);
  expect(critic?.[0]).toContain("You review answers.");
  expect(critic?.[0]).not.toContain("# Tools");
  expect(main).toHaveLength(4);
  expect(main?.[2]).toContain("A critic says: It is 1000.");

  const talk = of("talk");
  expect(talk).toMatchObject({ outcome: "answered", answer: "1000", turns: [{}, {}, {}] });
  const words = talk.turns.flatMap(({ toolCalls }) =>
    toolCalls.flatMap(({ tool, byLoop, observation }) => (tool === "user" && byLoop ? [observation] : [])),
  );
  expect(words.length).toBeGreaterThanOrEqual(2);
  expect(words.every((said) => said.length > 0)).toBe(true);
  expect(talk.turns.flatMap(({ said = [] }) => said)).toEqual(
    words.map((content) => ({ role: "user", content })),
  );
  const [segments = []] = await rowsOf(talk);
  expect(segments[0]).toContain(words[0]);
});
