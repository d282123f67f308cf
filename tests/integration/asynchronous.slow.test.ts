import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { withRunClient } from "../../src/control/supervision/run-client.ts";
import { readLedger } from "../../src/results/ledger/ledger.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { trainedStepKey, trajectoryKey } from "../../src/run/store/keys.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readSegments } from "../../src/run/trajectory/segments.ts";
import { trajectoryOf } from "../../src/run/trajectory/trajectory-of.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { forgetfulServer } from "../support/forgetful-server.ts";
import { stageRecords } from "../support/stage-records.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const pipeline = join(import.meta.dirname, "..", "pipelines", "asynchronous.yaml");

test("an asynchronous run keeps within its staleness, and goes on when everything but its folder is lost", async () => {
  const temporal = await forgetfulServer(folder, 50);
  const first = start("run", pipeline, "--runs", runs, "--temporal", temporal);
  let run = "";
  for (let waited = 0; waited < 900 && first.child.exitCode === null; waited++) {
    [run = ""] = existsSync(runs) ? readdirSync(runs) : [];
    if (run !== "" && (await readLines(runFolder(runs, run).metrics)).length >= 2) break;
    await sleep(100);
  }
  first.killGroup();
  await first.end();
  const { database, metrics } = runFolder(runs, run);
  for (const end of ["", "-shm", "-wal"]) rmSync(`${database}${end}`, { force: true });

  const resumed = await start("resume", run, "--runs", runs, "--temporal", temporal, "--json").end();
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ steps: 6, trajectories: 48 });

  const steps = await readLines<StepRecord>(metrics);
  expect(steps.map(({ step, trajectories }) => [step, trajectories])).toEqual(
    [1, 2, 3, 4, 5, 6].map((step) => [step, 8]),
  );
  for (const { staleness, stalenessMean = 0 } of steps) {
    expect(staleness).toBeLessThanOrEqual(2);
    expect(stalenessMean).toBeLessThanOrEqual(staleness);
  }
  expect(Math.max(...steps.map(({ staleness }) => staleness))).toBeGreaterThan(0);
  const stages = ["step-0002", "step-0003", "step-0004", "step-0005", "step-0006"];
  const { root } = runFolder(runs, run);
  const records = (await Promise.all(stages.map((stage) => stageRecords(root, stage)))).flat();
  const crossed = records.filter(({ policyVersions }) => new Set(policyVersions).size > 1);
  expect(crossed.length, "trajectories that crossed an update between turns").toBeGreaterThan(0);

  const opened = await openRunFolder(runs, run);
  expect((await readLedger(opened)).findings).toEqual([]);

  const left = await everturn("prune", run, "--runs", runs, "--dry-run", "--json");
  const nothing = { folded: [], trajectories: 0, records: 0, versions: [] };
  expect(lastLine(left.stdout), "steps were folded, and pruned, as they went").toMatchObject(nothing);
  const { store } = opened;
  const reader = trajectoryReader({ store });
  const trained = (await store.treeRecord(trainedStepKey(1)))?.value.trajectories ?? [];
  for (const { trajectory, head } of trained) {
    const name = trajectoryOf(trajectory);
    expect(await store.read(trajectoryKey(name)), "a single record of an old step").toBeUndefined();
    expect((await readSegments(reader, name, head)).length).toBeGreaterThan(1);
  }
  expect(trained).toHaveLength(8);

  await withRunClient({ runs, run, temporal }, async (client) => {
    const { events } = await client.workflow.getHandle(run).fetchHistory();
    const began = events?.[0]?.workflowExecutionStartedEventAttributes;
    expect(began?.continuedExecutionRunId, "it continued as new with groups in flight").toBeTruthy();
  });
});
