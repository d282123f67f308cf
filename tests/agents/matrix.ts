// npm run agents -- [--steps N] [AGENT …], after the tests of tests/agents/tools: agents of five libraries, as they are, on the embedded policy. Each runs twice, left alone and with
// ten of its processes killed at random moments: the trajectories are the same, segment by segment, and no turn is generated twice.
import { rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { processesWith } from "../support/processes.ts";
import { stageRecords } from "../support/stage-records.ts";

const all = ["ai-sdk", "langgraph", "openai-agents", "mastra", "openai-loop"];
const kills = 10;
const { values, positionals } = parseArgs({
  options: { steps: { type: "string", default: "1" } },
  allowPositionals: true,
});
const here = join(import.meta.dirname, "matrix");
const runs = join(homedir(), ".cache", "everturn", "agents", "runs");

let failed = false;
for (const agent of positionals.length > 0 ? positionals : all) {
  rmSync(runs, { recursive: true, force: true });
  const alone = await run(agent, 0);
  const struck = await run(agent, kills);
  const heads = (of: typeof alone) =>
    of.records.map(({ id, head }) => `${id.split("/").slice(1).join("/")} ${head}`);
  const before = heads(alone);
  const same = heads(struck).filter((head) => before.includes(head)).length;
  const turns = alone.records.reduce((sum, record) => sum + record.turns.length, 0);
  const turnsStruck = struck.records.reduce((sum, record) => sum + record.turns.length, 0);
  console.log(
    `${agent}: ${same} of ${before.length} trajectories the same after ${struck.killed} kills; turns ${turns} and ${turnsStruck}; ${alone.summary}`,
  );
  if (same < before.length || turns !== turnsStruck || struck.killed < kills) failed = true;
}
process.exitCode = failed ? 1 : 0;

async function run(agent: string, times: number) {
  const settings = [
    `loop.config.command=["node","${agent}.mjs"]`,
    `loop.config.folder=${here}`,
    `steps=${values.steps}`,
    `evaluation.every=${values.steps}`,
  ].flatMap((setting) => ["--set", setting]);
  const command = start("run", join(here, "pipeline.yaml"), "--runs", runs, "--json", ...settings);
  let killed = 0;
  while (killed < times && command.child.exitCode === null) {
    await sleep(Math.random() * 1500);
    const running = [...processesWith(`node ${agent}.mjs`).keys()];
    const victim = running[Math.floor(Math.random() * running.length)];
    if (victim === undefined) continue;
    process.kill(victim, "SIGKILL");
    killed++;
  }
  const { code, stdout, stderr } = await command.end();
  if (code !== 0) throw new Error(stderr);
  const { run: runId } = lastLine<{ run: string }>(stdout);
  const ledger = await everturn("ledger", runId, "--runs", runs);
  if (!ledger.stdout.includes("The ledger holds.")) throw new Error(ledger.stdout);
  const summary = stderr
    .split("\n")
    .filter((line) => line.startsWith("held-out accuracy"))
    .at(-1);
  return { records: await stageRecords(runFolder(runs, runId).root, "step-0001"), killed, summary };
}
