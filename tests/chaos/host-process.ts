import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { endChild } from "../support/end-child.ts";
import { firstOutput } from "../support/first-output.ts";
import { markName } from "./marked-processes.ts";

/** The tools' host, kept at one port. */
export interface HostProcess {
  url: string;
  /** Starts it again after it was killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the tools' host on `port` of the address `host`. */
export async function startHost(
  mark: string,
  port: number,
  log: string,
  host = "127.0.0.1",
): Promise<HostProcess> {
  let child = await start();

  async function start(): Promise<ChildProcess> {
    const file = join(import.meta.dirname, "tool-host.ts");
    const started = spawn(process.execPath, [file, "--host", host, "--port", String(port), "--log", log], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, [markName]: mark },
    });
    await firstOutput(started);
    return started;
  }

  return {
    url: `http://${host}:${port}`,
    restart: async () => {
      child = await start();
    },
    stop: () => endChild(child, "SIGKILL"),
  };
}
