import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, killIfRunning, lastLine, start } from "../support/command.ts";
import { processesWith } from "../support/processes.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const agents = join(import.meta.dirname, "..", "agents");
const module = join(agents, "ending-once.ts");

test.each(["thread", "pool"])(
  "agents that stay loaded and end their %s: every turn is generated once",
  async (mode) => {
    const folder = temporaryFolder();
    const markers = join(folder, "markers");
    mkdirSync(markers);
    const environment = { MARKERS: markers, MODE: mode };
    const conversation = ["one", "two", "three", "four"];
    const pipeline = writeScriptedPipeline(folder, [conversation], {
      tools: [],
      loop: { plugin: "loop-agent", config: { module, mode, environment } },
      rollout: { batchSize: 6, maxActionTokens: 200 },
      steps: 2,
    });
    const command = start("run", pipeline, "--runs", folder, "--json");
    const { code, stdout, stderr } = await command.end();
    expect(code, stderr).toBe(0);
    const { run } = lastLine<{ run: string }>(stdout);
    // In the first step, requests are updates. In the second, turns are known to be quick, and local activities fetch them.
    for (const [version, step] of ["step-0001", "step-0002"].entries()) {
      for (const what of ["ended", "killed"]) expect(existsSync(join(markers, `${step} ${what}`))).toBe(true);
      const records = await stageRecords(runFolder(folder, run).root, step);
      expect(records).toHaveLength(6);
      for (const record of records) {
        const policyVersions = [version, version, version, version];
        expect(record).toMatchObject({ outcome: "answered", policyVersions });
        expect(record.turns.map(({ action }) => action)).toEqual(conversation);
      }
      const number = (id: string) => Number(/(\d+)\/0$/.exec(id)?.[1]) + 1;
      for (const { id, answer } of records) expect(answer).toBe(`four to Say ${number(id)}.`);
    }
    expect([...processesWith(module).keys()]).toEqual([]);
    const { stdout: ledger } = await everturn("ledger", run, "--runs", folder);
    expect(ledger).toContain("The ledger holds.");
  },
);

test("agents in threads whose worker is killed: the turns of the lost workflow tasks are taken again, not generated again", async () => {
  const folder = temporaryFolder();
  const effects = join(folder, "effects");
  writeFileSync(effects, "");
  const step = "step-0002"; // the first whose turns are known to be quick
  const gate = (turn: number) => join(folder, `${step}-turn-${turn}`);
  for (const turn of [3, 5]) writeFileSync(gate(turn), "");
  const call = (number: number) =>
    `<tool_call>${JSON.stringify({ name: "double", arguments: { number } })}</tool_call>`;
  const conversation = [call(1), call(2), "yes", "no", call(3), "1"];
  const environment = { EFFECTS: effects };
  const pipeline = writeScriptedPipeline(folder, [conversation], {
    tools: [],
    loop: {
      plugin: "loop-agent",
      config: { module: join(agents, "two-checks.ts"), mode: "thread", environment },
    },
    rollout: { batchSize: 3, maxActionTokens: 200 },
    steps: 2,
  });
  const set = `policy.config.gates=${folder}`;
  const command = start("run", pipeline, "--runs", folder, "--json", "--set", set);
  onTestFinished(() => killIfRunning(command));
  const told = (what: string) =>
    readFileSync(effects, "utf8")
      .split("\n")
      .filter((line) => line.includes(`/${step}/`) && line.startsWith("told") && line.endsWith(what));
  for (const [what, turn] of [
    ["double 2", 3],
    ["now", 5],
  ] as const) {
    while (new Set(told(what)).size < 3 && command.child.exitCode === null) await sleep(100);
    expect(new Set(told(what)).size, command.stderr()).toBe(3);
    await sleep(1500);
    for (const worker of processesWith("worker --role").keys())
      if (processesWith(`--runs ${folder}`).has(worker)) process.kill(worker, "SIGKILL");
    rmSync(gate(turn));
  }
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(stdout);
  const records = await stageRecords(runFolder(folder, run).root, step);
  expect(records).toHaveLength(3);
  const doubled = (number: number) => ({
    tool: "double",
    arguments: { number },
    observation: String(number * 2),
    valid: true,
    attempts: 1,
  });
  for (const record of records) {
    expect(record).toMatchObject({ outcome: "answered", answer: "1!", policyVersions: [1, 1, 1, 1, 1, 1] });
    expect(record.turns.map(({ action }) => action)).toEqual(conversation);
    expect(record.turns.map(({ toolCalls }) => toolCalls)).toEqual([
      [doubled(1)],
      [doubled(2)],
      [],
      [],
      [doubled(3)],
      [],
    ]);
  }
  const { stdout: ledger } = await everturn("ledger", run, "--runs", folder);
  expect(ledger).toContain("The ledger holds.");
});
