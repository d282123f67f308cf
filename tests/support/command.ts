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
  /**
   * Signals its whole process group, the Temporal server and the workers too, as a terminal does. Throws if none of them is left,
   * with all that the command wrote.
   */
  signalGroup(signal: NodeJS.Signals): void;
  /** SIGKILL for its whole process group. */
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

  function signalGroup(signal: NodeJS.Signals): void {
    if (child.pid === undefined) throw new Error("The command did not start.");
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      const end = `everturn ${parameters.join(" ")} had ended with ${child.exitCode ?? child.signalCode}`;
      throw new Error(`${end} before it got ${signal}:\n${stdout}\n${stderr}`, { cause: error });
    }
  }

  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    end: async () => {
      const [code] = await exit;
      return { code, stdout, stderr };
    },
    signalGroup,
    killGroup: () => signalGroup("SIGKILL"),
  };
}

/** Kills a command's process group unless the command has ended or was never started. */
export function killIfRunning(command: RunningCommand | undefined): void {
  if (command?.child.exitCode === null && command.child.signalCode === null) command.killGroup();
}

/** Runs `everturn …arguments` to its end. */
export function everturn(...parameters: string[]) {
  return start(...parameters).end();
}

/** The last line of a command's standard output, as JSON. */
export function lastLine<T>(stdout: string): T {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
