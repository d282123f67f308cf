// Records the histories of small runs, one of each shape, for tests/replay: node scripts/record-histories.ts [version]
// Run it for a release (docs/releasing.md); older recordings stay, since what they began must still replay.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import packageJson from "../package.json" with { type: "json" };
import { loadPlan } from "../src/pipeline/load-plan.ts";
import { createRun } from "../src/runs/create-run.ts";
import { writeWhole } from "../src/runs/files.ts";
import { startDevServer } from "../src/temporal/dev-server.ts";
import { findServerBinary } from "../src/temporal/server-binary.ts";
import { openSession, type RunSession } from "../src/temporal/session.ts";
import { finishTraining, startTraining } from "../src/temporal/training-handle.ts";

const root = join(import.meta.dirname, "..");
const version = process.argv[2] ?? packageJson.version;
const target = join(root, "tests", "replay", "histories", version);
const runs = await mkdtemp(join(tmpdir(), "everturn-histories-"));

/** Which workflow of the run shows each shape: its id after the run's. */
const shapes = {
  training: "",
  step: "/step-0001",
  evaluation: "/evaluation-v0000",
  trajectory: "/step-0001/task-00000/0",
  "trajectory-quick": "/step-0002/task-00000/0",
  "trajectory-left-out": "/step-0001/task-00000/2",
};

/** On a server that the run joined: every activity has a way through the server, on the queue of its role. */
const joinedShapes = { "trajectory-joined": "/step-0001/task-00000/0" };

try {
  await record(undefined, shapes);
  const paths = { database: join(runs, "joined.db"), log: join(runs, "joined.log") };
  const server = await startDevServer({ binary: await findServerBinary(), ...paths });
  try {
    await record({ address: server.address, namespace: "default" }, joinedShapes);
  } finally {
    await server.stop();
  }
} finally {
  await rm(runs, { recursive: true, force: true });
}

async function record(
  server: Parameters<typeof createRun>[2],
  wanted: Record<string, string>,
): Promise<void> {
  const plan = await loadPlan(join(root, "tests", "pipelines", "scripted.yaml"), {});
  const run = await createRun(plan, runs, server, false);
  const session = await openSession({ runs, run, temporal: undefined });
  try {
    await finishTraining(session, await startTraining(session));
    for (const [name, place] of Object.entries(wanted)) await save(session, name, run + place);
  } finally {
    await session.close();
  }
}

async function save({ client }: RunSession, name: string, workflowId: string): Promise<void> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  await writeWhole(join(target, `${name}.json`), `${historyToJSON(history)}\n`);
  process.stdout.write(`${name}: ${workflowId}, ${history.events?.length} events\n`);
}
