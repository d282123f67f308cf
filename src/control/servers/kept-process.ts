import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { killMarked } from "../../base/processes/marked-processes.ts";
import type { Ending } from "../../base/processes/process-ending.ts";
import { endingOf } from "../../base/processes/process-ending.ts";
import { killProcess, processHandle } from "../../base/processes/process-handle.ts";
import { processLog } from "../../base/processes/process-log.ts";

/** The environment variable that marks the processes of a server. */
export const serverVariable = "EVERTURN_SERVER";

/** A process that ends with this one, however this one ends. */
export interface KeptProcess {
  ended: Promise<Ending & { isSuccess: boolean }>;
  stop(): Promise<void>;
}

interface Options {
  key: string;
  folder: string;
  environment: Record<string, string>;
  /** The file to which its output is added. */
  log: string;
}

/** Its group ends when the other end of file descriptor 3 does, which is this process. */
const script = '(cat <&3 >/dev/null; kill -9 0) & exec "$@" 3<&-';

/** Milliseconds that a process has for its own end. */
const grace = 5000;

/** Starts a program in a group of its own. */
export function keptProcess(
  command: readonly string[],
  { key, folder, environment, log: path }: Options,
): KeptProcess {
  const log = processLog(path);
  const output = openSync(path, "a");
  const [program = "", ...given] =
    process.platform === "win32" ? command : ["sh", "-c", script, "sh", ...command];
  const child: ChildProcess = spawn(program, given, {
    cwd: folder,
    env: { ...process.env, PYTHONUNBUFFERED: "1", ...environment, [serverVariable]: key },
    detached: process.platform !== "win32",
    stdio: ["ignore", output, output, "pipe"],
  });
  closeSync(output);
  const handle = processHandle(child.pid);
  const finish = () => {
    killProcess(handle); // and its group
    killMarked(serverVariable, key);
  };
  child.once("error", (error) => log.note(error.message));
  const exit = once(child, "exit").catch(() => [null, null]); // an error is in the log
  const ended = exit.then(([code, signal]) => {
    finish();
    const facts = { code, signal, output: log.text(), lines: log.tail(), kernelKilled: false };
    return { ...endingOf(facts), isSuccess: code === 0 };
  });
  return {
    ended,
    async stop() {
      child.kill("SIGTERM");
      await Promise.race([ended, sleep(grace, undefined, { ref: false })]);
      finish();
      await ended;
    },
  };
}
