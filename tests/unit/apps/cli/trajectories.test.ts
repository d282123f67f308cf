import { expect, test } from "vitest";
import { registerTrajectories } from "../../../../src/apps/cli/commands/trajectories.ts";
import { readChatRequest } from "../../../../src/chat/openai/read-chat.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { trajectoryKey } from "../../../../src/run/store/keys.ts";
import { trajectoryReader } from "../../../../src/run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../../../src/run/trajectory/trajectory-files.ts";
import { writeSampleRun } from "../../../support/sample-run.ts";
import { runCommand } from "./run-command.ts";

const { runs, id: runId } = await writeSampleRun();
const list = (...parameters: string[]) =>
  runCommand(registerTrajectories, "trajectories", runId, "--runs", runs, ...parameters);

async function json(
  ...parameters: string[]
): Promise<{ trajectories: Record<string, unknown>[]; total: number }> {
  return JSON.parse(await list("--json", ...parameters));
}

test("lists the trajectories of a stage as a table", async () => {
  expect(await list("--stage", "step-0001", "--limit", "3")).toMatchInlineSnapshot(`
    "trajectory                                outcome   reward  turns  tool calls  tokens  seconds
    calculator-sample/step-0001/task-01008/0  answered    0.00      2           1     325      0.4
    calculator-sample/step-0001/task-01009/0  answered    1.00      2           1     330      0.4
    calculator-sample/step-0001/task-01010/0  left-out    0.00      1           0     300      0.2
    … and 5 more; --skip 3 shows the next, --limit 0 all
    "
  `);
});

test("shows a part after the other", async () => {
  const all = await json("--stage", "step-0001", "--limit", "0");
  const second = await json("--stage", "step-0001", "--limit", "3", "--skip", "3");
  expect(second).toEqual({ trajectories: all.trajectories.slice(3, 6), total: all.total });
});

test("lists finished trajectories only, each once", async () => {
  const { trajectories, total } = await json("--limit", "0");
  expect(total).toBe(4 * 8 + 4 * 6);
  expect(new Set(trajectories.map((row) => row.id)).size).toBe(total);
});

test("filters by outcome, reward, tool and task", async () => {
  expect(await json("--outcome", "left-out")).toMatchObject({
    total: 1,
    trajectories: [{ outcome: "left-out" }],
  });
  for (const outcome of ["time-limit", "invalid-limit"]) {
    expect(await json("--outcome", outcome)).toEqual({ trajectories: [], total: 0 });
  }
  const solved = await json("--min-reward", "0.5", "--limit", "0");
  expect(solved.trajectories.every((row) => row.reward === 1)).toBe(true);
  const unsolved = await json("--max-reward", "0.5");
  expect(solved.total + unsolved.total).toBe(56);
  const callers = await json("--tool", "calculator", "--limit", "0");
  expect(callers.total).toBeGreaterThan(0);
  expect(callers.trajectories.every((row) => Number(row.toolCalls) > 0)).toBe(true);
  expect((await json("--tool", "telescope")).total).toBe(0);
  expect((await json("--task", "task-00002")).total).toBe(4);
});

const lines = async (...parameters: string[]) => {
  const text = await list(...parameters);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Record<string, unknown> => JSON.parse(line));
};

test("records for other programs are all that match, by filters or by a condition", async () => {
  const records = await lines("--as", "records", "--stage", "step-0001");
  expect(records.map(({ id }) => id)).toEqual(
    (await json("--stage", "step-0001", "--limit", "0")).trajectories.map(({ id }) => id),
  );
  expect(await lines("--as", "records", "--where", "stage = 'step-0001'")).toEqual(records);
  expect(await lines("--as", "records", "--stage", "step-0001", "--skip", "2", "--limit", "3")).toEqual(
    records.slice(2, 5),
  );
  expect(await list("--as", "records", "--min-reward", "99")).toBe("");
});

test("as messages of OpenAI's form, which the endpoint reads again", async () => {
  const [first] = await lines("--as", "messages", "--stage", "step-0001", "--tool", "calculator");
  expect(first).toMatchSnapshot();
  expect(() => readChatRequest({ model: "m", ...first })).not.toThrow();
  const all = await lines("--as", "messages");
  expect(all).toHaveLength(55); // one was left out
});

test("as preferences: the best and the worst of a group that differs", async () => {
  const other = await writeSampleRun();
  const run = await openRunFolder(other.runs, other.id);
  const place = { stage: "step-0001", task: "task-01009" };
  const first = await readTrajectoryRecord(trajectoryReader(run), { ...place, sample: 0 });
  for (const [sample, reward] of [
    [1, 0.5],
    [2, -1],
  ] as const) {
    const turns = [{ action: `Answer: ${sample}`, toolCalls: [] }];
    const id = `${run.id}/step-0001/task-01009/${sample}`;
    await run.store.record(trajectoryKey({ ...place, sample }), {
      ...first!,
      id,
      sample,
      reward,
      turns,
      head: null,
    });
  }
  const text = await runCommand(
    registerTrajectories,
    "trajectories",
    other.id,
    "--runs",
    other.runs,
    "--as",
    "preferences",
  );
  const [pair, ...others] = text.trim().split("\n");
  expect(others).toEqual([]);
  expect(JSON.parse(pair ?? "")).toMatchObject({
    prompt: first!.task.prompt,
    chosen: [
      { role: "assistant", tool_calls: [{ id: "call_1_0" }] },
      { role: "tool" },
      { role: "assistant" },
    ],
    rejected: [{ role: "assistant", content: "Answer: 2" }],
    tools: [{ function: { name: "calculator" } }],
  });
});

test("as verl's rollout data", async () => {
  const [first] = await lines("--as", "verl", "--stage", "step-0001", "--min-reward", "1");
  expect(first).toMatchObject({ score: 1, step: 1, gts: expect.any(String) });
  expect(first).toMatchObject({ input: expect.any(String), output: expect.stringContaining("Answer") });
});

test("the limit cuts the list, not the total", async () => {
  const { trajectories, total } = await json("--limit", "2");
  expect([trajectories.length, total]).toEqual([2, 56]);
});

test("a condition in SQL and an order find the same as the filters do", async () => {
  for (const [where, ...filter] of [
    ["reward >= 0.5", "--min-reward", "0.5"],
    ["tool = 'calculator'", "--tool", "calculator"],
    ["list_has(tools, 'calculator')", "--tool", "calculator"],
    ["outcome = 'left-out' and failure is not null", "--outcome", "left-out"],
    ["stage = 'step-0001' -- the first", "--stage", "step-0001"],
  ]) {
    const asked = await json("--limit", "0", "--where", where ?? "");
    const filtered = await json("--limit", "0", ...filter);
    expect(asked.total, where).toBe(filtered.total);
    expect(asked.trajectories.map(({ id }) => id)).toEqual(filtered.trajectories.map(({ id }) => id).sort());
    expect(asked.trajectories).toEqual(expect.arrayContaining(filtered.trajectories));
  }
  const both = await json(
    "--stage",
    "step-0001",
    "--where",
    "reward > (select avg(reward) from trajectories)",
  );
  expect(both.trajectories.every(({ reward }) => reward === 1)).toBe(true);
  const { trajectories } = await json("--sort", "reward desc, tokens", "--limit", "0");
  const order = (row: Record<string, unknown>) => 1e6 * -Number(row.reward) + Number(row.tokens);
  expect(trajectories.map(order)).toEqual(trajectories.map(order).sort((one, other) => one - other));
});

test.each([
  ["turns > 1 and\nrewrd < 0", 'Candidate bindings: "reward"'],
  ["turns > 1 and\nrewrd < 0", "at line 2, column 1."],
  ["reward <", "at its end."],
  ["true; drop table trajectories", 'syntax error at or near ";", at line 1, column 5.'],
  ["1 = 1) union all select (1", "continues after the condition"],
  ["true) limit (1", "continues after the condition"],
  ["true) group by all having (true", "continues after the condition"],
  ["exists (select * from read_csv('/etc/passwd'))", "disabled by configuration"],
  ["exists (select * from '/etc/passwd')", "does not exist"],
  ["exists (select * from glob('/*'))", "disabled by configuration"],
  ["getenv('HOME') is null", "getenv"],
  ["'x", "unterminated"],
  ["", "syntax error"],
])("refuses the condition %s", async (condition, reason) => {
  const asked = list("--where", condition);
  await expect(asked).rejects.toThrow(`The condition “${condition}” can't be used`);
  await expect(asked).rejects.toThrow(reason);
  await expect(asked).rejects.toMatchObject({ code: "QUERY_INVALID" });
});

test("refuses an order that is none", async () => {
  for (const sort of ["won", "reward down", "reward; drop", "toString", ""])
    await expect(list("--sort", sort)).rejects.toMatchObject({ code: "QUERY_INVALID" });
});

test("says when nothing matches, and refuses what is no number, no outcome, no run", async () => {
  expect(await list("--stage", "step-0099")).toBe("No finished trajectory matches.\n");
  await expect(list("--min-reward", "high")).rejects.toThrow("It is not a number.");
  await expect(list("--outcome", "won")).rejects.toThrow("Allowed choices are answered");
  const other = runCommand(registerTrajectories, "trajectories", "none", "--runs", runs);
  await expect(other).rejects.toThrow("There is no run none");
});
