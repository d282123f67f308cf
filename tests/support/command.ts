import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");

/** A command of the CLI under way, in a process group of its own. */
export interface RunningCommand {
  child: ChildProcess;
  /** All of its output so far. */
  stdout(): string;
  /** All of its errors and, with `--json`, its progress so far. */
  stderr(): string;
  /** Waits for its end. */
  end(): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** SIGKILL for the whole process group: the CLI, its workers, and the Temporal server. */
  killGroup(): void;
}

/** Starts `everturn …arguments`. */
export function start(...parameters: string[]): RunningCommand {
  return startWith({}, ...parameters);
}

/** Starts `everturn …arguments` with these environment variables beside those of the tests. */
export function startWith(env: Record<string, string>, ...parameters: string[]): RunningCommand {
  const child = spawn(process.execPath, [main, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const exit = once(child, "close");
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    end: async () => {
      const [code] = await exit;
      return { code, stdout, stderr };
    },
    killGroup: () => process.kill(-(child.pid ?? 0), "SIGKILL"),
  };
}

/** Kills a command's process group unless the command has ended. */
export function killIfRunning({ child, killGroup }: RunningCommand): void {
  if (child.exitCode === null && child.signalCode === null) killGroup();
}

/** Runs `everturn …arguments` to its end. */
export function everturn(...parameters: string[]) {
  return start(...parameters).end();
}

/** The last line of a command's standard output, as JSON. */
export function lastLine<T>(stdout: string): T {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
