import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startWorkerProcess } from "../../src/control/supervision/worker-process.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../src/run/folder/create-run-folder.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();

test("a worker that can't start says so in its log and ends, so that nobody waits for it", async () => {
  const plan = await loadPlan(join(import.meta.dirname, "..", "pipelines", "small.yaml"));
  const run = await createRunFolder(plan, { runs });
  const starting = startWorkerProcess("tools", { runs, run, address: "127.0.0.1:1", queuePrefix: "" });
  const log = runFolder(runs, run).log("tools");
  await expect(starting).rejects.toThrow(
    `The tools worker exited before it worked (exit code 1). Its log ${log} ends with:\nTEMPORAL_UNREACHABLE: `,
  );
  expect(readFileSync(log, "utf8")).toMatch(
    /^TEMPORAL_UNREACHABLE: No Temporal server responds at 127\.0\.0\.1:1: /,
  );
});

test("a worker that does not find its run ends, too", async () => {
  const run = "nothing-20261101-120000";
  const starting = startWorkerProcess("tools", { runs, run, address: "127.0.0.1:1", queuePrefix: "" });
  await expect(starting).rejects.toThrow("RUN_NOT_FOUND");
});
