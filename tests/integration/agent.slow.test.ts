import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { openRunStore } from "../../src/run/store/open-run-store.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readRows } from "../../src/run/trajectory/segments.ts";
import { trajectoryOf } from "../../src/run/trajectory/trajectory-of.ts";
import { everturn, killIfRunning, lastLine, start } from "../support/command.ts";
import { processesWith } from "../support/processes.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const module = join(import.meta.dirname, "..", "agents", "two-checks.ts");
const call = (number: number) =>
  `<tool_call>${JSON.stringify({ name: "double", arguments: { number } })}</tool_call>`;
const conversation = [call(1), call(2), "yes", "no", call(3), "1"];

test("an agent whose processes are killed, and whose worker is: the same trajectory, and no turn generated twice", async () => {
  const gates = join(folder);
  const effects = join(folder, "effects");
  const gate = join(gates, "step-0001-turn-5");
  writeFileSync(gate, "");
  const pipeline = writeScriptedPipeline(folder, [conversation], {
    tools: [],
    loop: { plugin: "loop-agent", config: { module, attempts: 50, environment: { EFFECTS: effects } } },
    rollout: { batchSize: 3, maxActionTokens: 200 },
  });
  const command = start("run", pipeline, "--runs", folder, "--json", "--set", `policy.config.gates=${gates}`);
  onTestFinished(() => {
    killIfRunning(command);
  });
  const killed = new Set<number>();
  const seen = () => [...processesWith(`agent-main.ts ${module}`).keys()].filter((pid) => !killed.has(pid));
  let isWorkerKilled = false;
  while (command.child.exitCode === null && killed.size < 12) {
    for (const pid of seen()) {
      await sleep(40 * killed.size);
      killed.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it ended meanwhile
      }
      if (killed.size === 8 && !isWorkerKilled) {
        isWorkerKilled = true;
        for (const worker of processesWith(`worker --role`).keys()) {
          if (processesWith(`--runs ${folder}`).has(worker)) process.kill(worker, "SIGKILL");
        }
        rmSync(gate);
      }
    }
    await sleep(20);
  }
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  expect(isWorkerKilled, `after ${killed.size} kills`).toBe(true);
  expect(seen()).toEqual([]);
  const { run } = lastLine<{ run: string }>(stdout);
  const { root } = runFolder(folder, run);
  const records = await stageRecords(root, "step-0001");
  expect(records).toHaveLength(3);
  const reader = trajectoryReader({ store: openRunStore(root) });
  for (const record of records) {
    expect(record).toMatchObject({ outcome: "answered", answer: "1!", policyVersions: [0, 0, 0, 0, 0, 0] });
    expect(record.turns.map(({ action }) => action)).toEqual(conversation);
    const doubled = (number: number) => ({
      tool: "double",
      arguments: { number },
      observation: String(number * 2),
      valid: true,
      attempts: 1,
    });
    expect(record.turns.map(({ toolCalls }) => toolCalls)).toEqual([
      [doubled(1)],
      [doubled(2)],
      [],
      [],
      [doubled(3)],
      [],
    ]);
    const { rows, actions } = await readRows(reader, trajectoryOf(record.id), record.head);
    expect(actions).toHaveLength(6);
    expect(rows.map((row) => row.map(({ origin }) => origin).join(" "))).toEqual([
      "prompt action",
      "prompt action",
      "prompt action observation action observation action observation action",
    ]);
    expect(rows[2]?.[4]?.text).toContain("The checks say no,yes.");
  }
  const lines = readFileSync(effects, "utf8")
    .trim()
    .split("\n")
    .filter((line) => line.includes("/step-0001/"));
  const told = new Set<string>();
  const keys = new Map<string, string>();
  for (const line of lines) {
    const [, key, made] = /^made (\S+) (.*)$/.exec(line) ?? [];
    if (key === undefined || made === undefined) {
      told.add(line.replace("told ", ""));
      continue;
    }
    expect(told, "a call whose result was told is not made again").not.toContain(made);
    expect(keys.get(key) ?? made, "one key for each call").toBe(made);
    keys.set(key, made);
  }
  expect(told.size).toBe(3 * 4);
  expect([...keys.values()].sort()).toEqual([...told].sort());
  expect(lines.filter((line) => line.startsWith("made")).length).toBeLessThanOrEqual(3 * 4 + killed.size + 3);
  const { stdout: ledger } = await everturn("ledger", run, "--runs", folder);
  expect(ledger).toContain("The ledger holds.");
});
