import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clusterAt, databaseArguments } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { type HostProcess, startHost } from "../chaos/host-process.ts";
import { markName } from "../chaos/marked-processes.ts";
import { endChild } from "../support/end-child.ts";
import { type S3Server, seaweedHere, startS3Server } from "../support/s3-server.ts";
import { type Machine, prepareNetwork, serverHost, startMachine } from "./machine.ts";

/** Where the runs are. */
export const store = "s3://runs/team";

const ports = { temporal: 7233, tools: 8500 };

/** Two machines, and the servers between them. */
export interface World {
  machines: readonly Machine[];
  temporal: TemporalServer;
  s3: S3Server;
  tools: HostProcess;
  /** The keys of the payloads, which only the machines have. */
  codecKeys: string;
  stop(): Promise<void>;
}

/** A Temporal server on a database file. */
export interface TemporalServer {
  address: string;
  /** The folder of its database and its log. */
  folder: string;
  pid(): number;
  kill(): Promise<void>;
  /** Starts it again, on the same address and database. */
  start(): Promise<void>;
}

/** Starts the servers, and two machines with them in their environment. What carries `mark` may be struck. */
export async function startWorld(work: string, mark: string): Promise<World> {
  prepareNetwork();
  const weed = await seaweedHere();
  if (weed === undefined) throw new Error("there is no S3 server");
  const s3 = await startS3Server(weed, join(work, "s3"), serverHost);
  const temporal = await startTemporal(join(work, "temporal"), mark);
  const tools = await startHost(mark, ports.tools, join(work, "calls.jsonl"), serverHost);
  const codecKeys = `machines:${randomBytes(32).toString("base64")}`;
  const env = {
    ...s3.env,
    TEMPORAL_ADDRESS: temporal.address,
    EVERTURN_STORE: store,
    EVERTURN_CODEC_KEYS: codecKeys,
  };
  const machines = [await startMachine(1, { work, mark, env }), await startMachine(2, { work, mark, env })];
  requireSeparation(machines);
  const stop = async () => {
    for (const one of [...machines, tools]) await one.stop();
    await temporal.kill();
    await s3.kill();
  };
  return { machines, temporal, s3, tools, codecKeys, stop };
}

/** Each machine sees its own disk only. */
function requireSeparation(machines: readonly Machine[]): void {
  for (const { name, disk } of machines) writeFileSync(join(disk, name), "");
  for (const { name, look } of machines) {
    const seen = look();
    const foreign = machines.filter((one) => one.name !== name && seen.includes(one.name));
    if (!seen.includes(name) || foreign.length > 0) throw new Error(`${name} sees ${seen.join(", ")}`);
  }
}

async function startTemporal(folder: string, mark: string): Promise<TemporalServer> {
  const binary = await findServerBinary();
  mkdirSync(folder, { recursive: true });
  const address = `${serverHost}:${ports.temporal}`;
  // Its services reach each other on loopback.
  const listening = ["--ip", "0.0.0.0", "--port", String(ports.temporal), "--headless"];
  const quiet = ["--log-level", "error"];
  const settings = [...listening, ...quiet, ...databaseArguments(join(folder, "temporal.db"))];
  let server: ChildProcess;
  const start = async () => {
    const output = openSync(join(folder, "temporal.log"), "a");
    server = spawn(binary, ["server", "start-dev", ...settings], {
      stdio: ["ignore", output, output],
      env: { ...process.env, [markName]: mark, GOGC: "400" },
    });
    closeSync(output);
    while ((await clusterAt(address)) === undefined) {
      if (server.exitCode !== null) throw new Error(`Temporal ended with ${server.exitCode}: see ${folder}`);
      await sleep(200);
    }
  };
  await start();
  return {
    address,
    folder,
    pid: () => server.pid ?? 0,
    start,
    kill: () => endChild(server, "SIGKILL"),
  };
}
