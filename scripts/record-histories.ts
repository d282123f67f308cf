// Records the histories of small runs, one of each shape, for tests/replay: node scripts/record-histories.ts [version]
// Run it for a release (docs/releasing.md); older recordings stay, since what they began must still replay.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import packageJson from "../package.json" with { type: "json" };
import { writeWhole } from "../src/base/files/whole-files.ts";
import { type SupervisedRun, superviseRun } from "../src/control/supervision/supervised-run.ts";
import { startDevServer } from "../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../src/control/temporal/server-binary.ts";
import { loadPlan } from "../src/plan/pipeline/load-plan.ts";
import { createRunFolder, type NewRunFolder } from "../src/run/folder/create-run-folder.ts";
import { continued, type Drive, finished, firstTrajectory, ordered } from "./record-histories/drive.ts";

/** A run of tests/pipelines/scripted.yaml: what differs, what is done, and which workflows show which shapes. */
interface Recording {
  overrides: string[];
  drive: Drive;
  /** By the name of the file, the workflow's id after the run's. */
  shapes: Record<string, string>;
  /** The run joins a server: every activity has a way through the server, on the queue of its role. */
  isJoined?: boolean;
}

/** Three turns of a hundred thousand characters: a trajectory that continues as new. */
const long = ["1", "2", "3"].map((digit) => `<tool_call>${digit.repeat(110_000)}</tool_call>`);

const recordings: Recording[] = [
  {
    overrides: [],
    drive: continued,
    shapes: {
      training: "",
      step: "/step-0001",
      shard: "/step-0001/shard-1",
      "shard-evaluation": "/evaluation-v0000/shard-1",
      evaluation: "/evaluation-v0000",
      trajectory: "/step-0001/task-00000/0",
      "trajectory-quick": "/step-0002/task-00000/0",
      "trajectory-left-out": "/step-0001/task-00000/2",
    },
  },
  {
    overrides: ["rollout.staleness=1", "steps=3"],
    drive: continued,
    shapes: {
      "training-asynchronous": "",
      "step-asynchronous": "/step-0002",
      "shard-asynchronous": "/groups-00001",
      "trajectory-asynchronous": "/step-0001/task-00004/0",
    },
  },
  {
    overrides: ["rollout.batchSize=132", 'policy.config.conversations=[["1"], ["2"], ["3"]]', "steps=1"],
    drive: finished,
    shapes: { "training-large": "", "shard-large": "/step-0001/shard-2" },
  },
  {
    overrides: ["tools.0.approval=required"],
    drive: ordered,
    shapes: {
      "trajectory-ordered": "/evaluation-v0000/task-00000/0",
      "trajectory-cancelled": "/evaluation-v0000/task-00001/0",
    },
  },
  {
    overrides: [`policy.config.conversations=[${JSON.stringify([...long, "1"])}]`],
    drive: firstTrajectory,
    shapes: { "trajectory-continued": "/evaluation-v0000/task-00000/0" },
  },
  {
    overrides: [],
    drive: finished,
    shapes: { "trajectory-joined": "/step-0001/task-00000/0" },
    isJoined: true,
  },
];

const root = join(import.meta.dirname, "..");
const version = process.argv[2] ?? packageJson.version;
const target = join(root, "tests", "replay", "histories", version);
const runs = await mkdtemp(join(tmpdir(), "everturn-histories-"));
try {
  for (const recording of recordings) {
    if (recording.isJoined === true) await onJoinedServer((server) => record(recording, server));
    else await record(recording, undefined);
  }
} finally {
  await rm(runs, { recursive: true, force: true });
}

type Server = NonNullable<NewRunFolder["server"]>;

async function onJoinedServer(work: (server: Server) => Promise<void>): Promise<void> {
  const paths = { database: join(runs, "joined.db"), log: join(runs, "joined.log") };
  const server = await startDevServer({ binary: await findServerBinary(), ...paths });
  try {
    await work({ address: server.address, namespace: "default" });
  } finally {
    await server.stop();
  }
}

async function record({ overrides, drive, shapes }: Recording, server: Server | undefined): Promise<void> {
  const plan = await loadPlan(join(root, "tests", "pipelines", "scripted.yaml"), { overrides });
  const run = await createRunFolder(plan, { runs, server });
  const supervised = await superviseRun({ runs, run, temporal: undefined });
  try {
    await Promise.race([drive(supervised), supervised.failed]);
    await sleep(2000); // workflows that have ended are listed a moment later
    for (const [name, place] of Object.entries(shapes)) await save(supervised, name, run + place);
  } finally {
    await supervised.close();
  }
}

/** Writes a workflow's histories: `name.json`, then `name-2.json` for what it continued as, and so on. */
async function save({ client }: SupervisedRun, name: string, workflowId: string): Promise<void> {
  const executions: { runId: string; startTime: Date }[] = [];
  const query = `WorkflowId = "${workflowId}"`;
  for await (const execution of client.workflow.list({ query })) executions.push(execution);
  if (executions.length === 0) throw new Error(`there is no workflow ${workflowId} for ${name}`);
  executions.sort((a, b) => a.startTime.getTime() - b.startTime.getTime());
  for (const [index, { runId }] of executions.entries()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const file = join(target, index === 0 ? `${name}.json` : `${name}-${index + 1}.json`);
    await writeWhole(file, `${withoutStacks(historyToJSON(history))}\n`);
    process.stdout.write(`${file}: ${history.events?.length} events\n`);
  }
}

/** Stack traces of failures name the machine's folders, and replaying needs none. */
function withoutStacks(json: string): string {
  return JSON.stringify(JSON.parse(json), (key, value) => (key === "stackTrace" ? "" : value));
}
