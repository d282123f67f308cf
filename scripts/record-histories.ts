// Records the histories of a small run, one of each workflow, for tests/replay: node scripts/record-histories.ts
// Run it for a release; older recordings stay, since their trajectories must still replay.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import packageJson from "../package.json" with { type: "json" };
import { loadPlan } from "../src/pipeline/load-plan.ts";
import { createRun } from "../src/runs/create-run.ts";
import { writeWhole } from "../src/runs/files.ts";
import { openSession } from "../src/temporal/session.ts";
import { finishTraining, startTraining } from "../src/temporal/training-handle.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "tests", "replay", "histories", packageJson.version);
const runs = await mkdtemp(join(tmpdir(), "everturn-histories-"));
const plan = await loadPlan(join(root, "tests", "pipelines", "small.yaml"), { overrides: ["steps=2"] });
const run = await createRun(plan, runs, undefined, false);
const session = await openSession({ runs, run, temporal: undefined });
try {
  await finishTraining(session, await startTraining(session));
  const chosen = new Map<string, string>();
  for await (const { type, workflowId } of session.client.workflow.list()) {
    const isRejected = type === "trajectory" && !workflowId.includes("/step-");
    if (!isRejected) chosen.set(type, workflowId);
  }
  for (const [type, workflowId] of chosen) {
    const history = await session.client.workflow.getHandle(workflowId).fetchHistory();
    await writeWhole(join(target, `${type}.json`), `${historyToJSON(history)}\n`);
    process.stdout.write(`${type}: ${workflowId}, ${history.events?.length} events\n`);
  }
} finally {
  await session.close();
  await rm(runs, { recursive: true, force: true });
}
