// npm run machines -- [--strikes N] [--seed S] [--steps N] [--json]: workers on two machines with an S3 server and a
// Temporal server between them. Kills and stops their processes, cuts a machine off, restarts both servers, and checks
// that nothing is lost. N counts kills and stops together.
// npm run machines -- --spot [--minutes M] …: every minute half of the workers die, and others take their places.
// Linux (x64) only. The machines are namespaces: it needs root, or a user who may create user namespaces.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { seaweedHere } from "../support/s3-server.ts";
import { runOnMachines } from "./run-machines.ts";
import { runSpotFleet } from "./spot-fleet.ts";

/** Set in the process that has namespaces of its own. */
const inside = "EVERTURN_MACHINES_INSIDE";

const { values } = parseArgs({
  options: {
    strikes: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "30" },
    spot: { type: "boolean", default: false },
    minutes: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
  },
});

if (process.env[inside] === undefined) process.exitCode = await again();
else process.exitCode = (await isClean()) ? 0 : 1;

/** Runs this program in namespaces, whose processes all end with it. Downloads come first: it has no network there. */
async function again(): Promise<number> {
  if ((await seaweedHere()) === undefined) return 2;
  await findServerBinary();
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const spaces = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
  const program = [process.execPath, ...process.argv.slice(1)];
  const child = spawn("unshare", [...user, ...spaces, ...program], {
    stdio: "inherit",
    env: { ...process.env, [inside]: "yes" },
  });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

async function isClean(): Promise<boolean> {
  const work = mkdtempSync(join(tmpdir(), "everturn-machines-"));
  const out = values.json ? process.stderr : process.stdout;
  const note = (text: string) => void out.write(`${text}\n`);
  note(`working in ${work}`);
  const options = { work, mark: randomUUID(), seed: Number(values.seed), steps: Number(values.steps), note };
  const report = values.spot
    ? await runSpotFleet({ ...options, minutes: Number(values.minutes) })
    : await runOnMachines({ ...options, strikes: Number(values.strikes) });
  note(report.text);
  if (values.json) process.stdout.write(`${JSON.stringify(report.counts)}\n`);
  if (report.isClean) rmSync(work, { recursive: true, force: true });
  return report.isClean;
}
