import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { registerLedger } from "../../../../src/apps/cli/commands/ledger.ts";
import { registerReport } from "../../../../src/apps/cli/commands/report.ts";
import { registerTrajectories } from "../../../../src/apps/cli/commands/trajectories.ts";
import { foldSteps } from "../../../../src/results/retention/fold-steps.ts";
import { freeRecords } from "../../../../src/results/retention/free-records.ts";
import { makeRun } from "../../../support/made-run.ts";
import type { Behaviour } from "../../../support/object-server.ts";
import { startObjects } from "../../../support/object-store.ts";
import { objectsUrl } from "../../../support/open-objects.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const size = { steps: 3, trajectories: 4, turns: 2, tokens: 8 };

/** The URL of an object store that behaves so. */
async function objects(behaviour: Partial<Behaviour>): Promise<string> {
  const place = await startObjects(temporaryFolder(), behaviour);
  if (!("port" in place)) throw new Error("an object store has a port");
  return objectsUrl(place.port);
}

/** What commands say of a run whose first step is in a file alone. */
async function answers(store?: string) {
  const runs = mkdtempSync(join(temporaryFolder(), "runs-"));
  const run = await makeRun(runs, store === undefined ? size : { ...size, store });
  await foldSteps(run, 1);
  await freeRecords(run, 1);
  const told = async (register: typeof registerLedger, ...parameters: string[]) =>
    runCommand(register, ...parameters, "--runs", runs);
  await told(registerReport, "report", "made");
  return {
    listed: await told(registerTrajectories, "trajectories", "made", "--limit", "0"),
    ofStage: await told(registerTrajectories, "trajectories", "made", "--stage", "step-0002", "--json"),
    ledger: await told(registerLedger, "ledger", "made", "--json"),
    ofStep: await told(registerLedger, "ledger", "made", "--step", "2"),
    report: readFileSync(run.folder.report, "utf8"),
  };
}

test("lists, ledger and report of a run say the same of an object store, that fails and is slow, and of a folder", async () => {
  const url = await objects({ latency: 1, lag: 0 });
  const ofFolder = await answers();
  expect(JSON.parse(ofFolder.ledger)).toMatchObject({ findings: [], stages: [{}, {}, {}] });
  expect(JSON.parse(ofFolder.ofStage).total).toBe(4);
  expect(await answers(url)).toEqual(ofFolder);
});

test("where listings lag, the ledger finds by their names what was reserved and trained on", async () => {
  const url = await objects({ latency: 0, lag: 600_000 });
  const lagging = await answers(url);
  const { findings, entries } = JSON.parse(lagging.ledger);
  expect(findings).toEqual([]);
  expect(entries).toHaveLength(12);
});
