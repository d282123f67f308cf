import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeOnce } from "../../base/files/whole-files.ts";
import { machineName, stateFolder } from "../../base/processes/machine-folder.ts";
import type { ThrownData } from "../../plugin/host/thrown-data.ts";

/** What a keeper says about its server, one per line. Its first line proves that it is this user's. */
export type KeeperLine =
  | { state: "keeper"; proof: string }
  | { state: "starting" }
  | { state: "ready"; port: number }
  | { state: "failed"; error: ThrownData };

/** Where the keeper of a server listens, and how it proves that it is this user's. */
export interface KeeperSocket {
  /** The name of a local socket. Only one process can listen there. */
  path: string;
  /** The answer to a client's random text, which other users of the machine can't compute. */
  proofOf(challenge: string): string;
}

/** The folder of this user's servers: their logs, and the secret of their keepers. */
export function serversFolder(): string {
  return join(stateFolder(), "servers");
}

/** The socket of the server with this key. */
export async function keeperSocket(key: string): Promise<KeeperSocket> {
  const file = join(serversFolder(), `secret-${machineName}`);
  mkdirSync(serversFolder(), { recursive: true, mode: 0o700 });
  await writeOnce(file, randomBytes(32).toString("hex"));
  const secret = readFileSync(file);
  const digest = (text: string) => createHmac("sha256", secret).update(text).digest("hex");
  const name = `everturn-server-${digest(key).slice(0, 24)}`;
  // Linux and Windows free these names with their process. A socket's file elsewhere stays behind, and is replaced.
  const paths: Partial<Record<NodeJS.Platform, string>> = {
    linux: `\0${name}`,
    win32: `\\\\.\\pipe\\${name}`,
  };
  return {
    path: paths[process.platform] ?? join(tmpdir(), name),
    proofOf: (text) => digest(`proof ${text}`),
  };
}
