import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { markName } from "./marked-processes.ts";

const main = join(import.meta.dirname, "..", "..", "src", "apps", "cli", "main.ts");

/** A command of the CLI under way; all that it starts carries the mark. */
export interface CliProcess {
  child: ChildProcess;
  /** Its exit code once it has ended; null after a signal. */
  ended: Promise<number | null>;
}

/**
 * Starts `everturn …parameters`; its output is appended to `log`, beside which its machine's state and temporary files are kept. `env`: variables
 * beside those of this process.
 */
export function startCli(
  mark: string,
  log: string,
  parameters: string[],
  env: Record<string, string> = {},
): CliProcess {
  const output = openSync(log, "a");
  const temporary = join(dirname(log), "temporary");
  mkdirSync(temporary, { recursive: true });
  const child = spawn(process.execPath, [main, ...parameters], {
    stdio: ["ignore", output, output],
    env: {
      ...process.env,
      ...env,
      [markName]: mark,
      XDG_STATE_HOME: join(dirname(log), "state"),
      TMPDIR: temporary,
    },
  });
  closeSync(output);
  return { child, ended: once(child, "exit").then(([code]) => code) };
}
