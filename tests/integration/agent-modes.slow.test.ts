import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { processesWith } from "../support/processes.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const module = join(import.meta.dirname, "..", "agents", "ending-once.ts");

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
    });
    const command = start("run", pipeline, "--runs", folder, "--json");
    const { code, stdout, stderr } = await command.end();
    expect(code, stderr).toBe(0);
    expect(existsSync(join(markers, "ended")) && existsSync(join(markers, "killed"))).toBe(true);
    const { run } = lastLine<{ run: string }>(stdout);
    const records = await stageRecords(runFolder(folder, run).root, "step-0001");
    expect(records).toHaveLength(6);
    for (const record of records) {
      expect(record).toMatchObject({ outcome: "answered", policyVersions: [0, 0, 0, 0] });
      expect(record.turns.map(({ action }) => action)).toEqual(conversation);
    }
    const number = (id: string) => Number(/(\d+)\/0$/.exec(id)?.[1]) + 1;
    for (const { id, answer } of records) expect(answer).toBe(`four to Say ${number(id)}.`);
    expect([...processesWith(module).keys()]).toEqual([]);
    const { stdout: ledger } = await everturn("ledger", run, "--runs", folder);
    expect(ledger).toContain("The ledger holds.");
  },
);
