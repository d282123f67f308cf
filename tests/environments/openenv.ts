import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual, promisify } from "node:util";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import { serverVariable } from "../../src/control/servers/kept-process.ts";
import { pythonPrograms } from "../../src/control/servers/python-environment.ts";
import { serverKey, serverStart } from "../../src/control/servers/server-start.ts";
import { endChild } from "../support/end-child.ts";
import { firstOutput } from "../support/first-output.ts";
import { processesMarked, processesWith } from "../support/processes.ts";
import { counting } from "./call.ts";
import { failingTasks, type Place, type Protocol } from "./protocol.ts";

const run = promisify(execFile);
const [client, user] = [
  join(import.meta.dirname, "openenv_client.py"),
  join(import.meta.dirname, "..", "support", "server-user.ts"),
];
const ready = "/health";

/** Seconds until an unused server must be gone. */
const patience = 60;

/** Episodes of the environment in count_env.py, in a server of the published package that Everturn installs and starts. */
export function openenv({ folder }: Place): Protocol {
  const startOf = (isFailing: boolean): JsonObject => ({
    requirements: ["openenv==0.10.0"],
    command: ["uvicorn", "count_env:app", "--port", "{port}", "--log-level", "warning"],
    folder: import.meta.dirname,
    // The folder makes these servers this program's own.
    environment: { FAILING: isFailing ? failingTasks : "", PROGRAM: folder },
  });
  const keys = [false, true].map((isFailing) => serverKey(serverStart(startOf(isFailing), ready)));
  const keepers = () => keys.flatMap((key) => [...processesWith(`keeper-main.ts ${key}`).keys()]);
  const servers = () => keys.flatMap((key) => processesMarked(serverVariable, key));
  return {
    plugin: "environment-openenv",
    conversations: counting("step"),
    config: (isFailing) => ({ start: startOf(isFailing) }),
    kill() {
      for (const keeper of keepers()) process.kill(keeper, "SIGKILL"); // its server ends with it
    },
    check: (records) => compareWithClient(startOf(false), records, folder),
    async left() {
      const isLeft = () => keepers().length + servers().length;
      for (const end = Date.now() + patience * 1000; isLeft() > 0 && Date.now() < end; ) await sleep(500);
      return isLeft();
    },
  };
}

/** Plays the trajectories' actions with OpenEnv's own client, on the same server. Throws the first that differs. */
async function compareWithClient(
  start: JsonObject,
  records: readonly Trajectory[],
  folder: string,
): Promise<void> {
  const holder = spawn(process.execPath, [user, JSON.stringify(start), ready], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = (await firstOutput(holder)).trim();
    const wanted = serverStart(start, ready);
    const log = join(folder, "client.log");
    const stopping = new AbortController().signal;
    const programs = await pythonPrograms(wanted, { key: serverKey(wanted), log, stopping });
    const stepsOf = ({ turns }: Trajectory) =>
      turns.flatMap(({ toolCalls }) => toolCalls.filter(({ tool }) => tool === "step"));
    const episodes = records.map((record) => [
      record.task.extra_info?.openenv ?? {},
      stepsOf(record).map((made) => made.arguments),
    ]);
    const { stdout } = await run(join(programs ?? "", "python"), [client, url, JSON.stringify(episodes)]);
    const played: { observations: JsonObject[]; rewards: number[] }[] = JSON.parse(stdout);
    for (const [index, record] of records.entries()) {
      const { observations = [], rewards = [] } = played[index] ?? {};
      const theirs = observations.slice(1).map(({ prompt, total }) => ({ prompt, total }));
      const ours = stepsOf(record).map(({ observation }) => JSON.parse(observation));
      const sum = rewards.reduce((whole, one) => whole + one, 0);
      if (!isDeepStrictEqual(theirs, ours) || sum !== record.reward)
        throw new Error(`OpenEnv's client plays ${record.taskId} otherwise: ${stdout}`);
    }
  } finally {
    await endChild(holder, "SIGKILL");
  }
}
