// npm run verl-tool -- PYTHON: trajectories whose tool is verl-tool's own server (python_code), which is killed and started again, and stopped
// for longer than a call may take, while they run. PYTHON has what benchmarks/verl-tool-requirements.txt names.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readTrajectories } from "../../src/run/trajectory/trajectory-files.ts";
import { lastLine, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";

const python = process.argv[2];
if (python === undefined) throw new Error("npm run verl-tool -- PYTHON: name a Python that has verl-tool");
const turnCount = 12;
const folder = mkdtempSync(join(tmpdir(), "everturn-verl-tool-"));
const port = await freePort(0);
const url = `http://127.0.0.1:${port}`;

const pipeline = writeScriptedPipeline(folder, [[...Array(turnCount).keys()].map(asked).concat("done")], {
  tools: [
    {
      plugin: "tool-verl-tool",
      config: { url: `${url}/get_observation`, action: "<python>{action}</python>" },
      timeout: "5s",
      retry: { maximumAttempts: 20, initialInterval: "1s", maximumInterval: "5s" },
    },
  ],
  rollout: { batchSize: 12, groupSize: 2, maxActionTokens: 400, concurrency: 12 },
  evaluation: { every: 0, tasks: 1 },
});
const runs = join(folder, "runs");
let server = await started();
const run = start("run", pipeline, "--runs", runs, "--json");
const ended = run.end();
const faults = { kills: 0, stops: 0 };
try {
  for (
    let round = 0;
    (await Promise.race([ended, sleep(round === 0 ? 12_000 : 20_000)])) === undefined;
    round++
  ) {
    if (round % 2 === 0) {
      end(server, "SIGKILL");
      faults.kills++;
      await sleep(2_000);
      server = await started();
    } else {
      end(server, "SIGSTOP");
      faults.stops++;
      await sleep(7_000);
      end(server, "SIGCONT");
    }
  }
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(`the run failed: ${stderr.slice(-3000)}${stdout.slice(-1000)}`);
  const told = { ...faults, ...(await counted(lastLine<{ run: string }>(stdout).run)) };
  process.stdout.write(`${JSON.stringify(told)}\n`);
  if (told.finished !== told.trajectories || told.wrong > 0 || faults.kills === 0) process.exitCode = 1;
} finally {
  end(server, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

function asked(turn: number): string {
  const program = `import time; time.sleep(1); print(${turn} + 1000)`;
  return `<tool_call>${JSON.stringify({ name: "act", arguments: { action: program } })}</tool_call>`;
}

/** The server, once it answers; it is the leader of a process group with its interpreters. */
async function started(): Promise<ChildProcess> {
  const place = ["--host", "127.0.0.1", "--port", String(port)];
  const tool = ["--tool_type", "python_code", "--workers_per_tool", "32"];
  const child = spawn(String(python), ["-m", "verl_tool.servers.tool_server", ...place, ...tool], {
    cwd: folder, // it writes programs there
    stdio: "ignore",
    detached: true,
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`verl-tool's server ended with ${child.exitCode}`);
    const health = await fetch(`${url}/health`).catch(() => undefined);
    await health?.text();
    if (health?.ok) return child;
    await sleep(200);
  }
}

function end(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
}

/** What the store says of the run's trajectories: those that took all of their turns, and observations that are not their calls'. */
async function counted(id: string) {
  const reader = trajectoryReader(await openRunFolder(runs, id));
  const records = await readTrajectories(reader, await reader.list());
  const rollouts = records.filter(({ turns }) => turns.length > 1);
  const observed = rollouts.map(({ turns }) => turns.flatMap(({ toolCalls }) => toolCalls));
  const wrong = observed.flatMap((calls) =>
    calls.filter(({ observation }, at) => !observation.includes(String(1000 + at))),
  );
  return {
    trajectories: records.length,
    finished: observed.filter((calls) => calls.length === turnCount).length,
    calls: observed.flat().length,
    wrong: wrong.length,
  };
}
