import { spawn } from "node:child_process";
import { once } from "node:events";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../../base/errors/message-of.ts";

/**
 * Runs a job's program in a folder, with output to this terminal. Returns its failure, if any. Throws INTERRUPTED
 * once the signal has ended it.
 */
export async function runCommand(
  job: string,
  [program = "", ...parameters]: readonly string[],
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<string | undefined> {
  const child = spawn(program, parameters, { cwd: folder, stdio: ["ignore", 2, 2] }); // stdout is for the table
  const end = () => void child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  try {
    const [code, killedBy] = await once(child, "close");
    if (signal.aborted) throw new EverturnError("INTERRUPTED", { run: job });
    if (code === 0) return undefined;
    return code === null ? `was ended by ${killedBy}` : `ended with exit status ${code}`;
  } catch (error) {
    if (signal.aborted) throw error;
    return `could not be started: ${messageOf(error)}`;
  } finally {
    signal.removeEventListener("abort", end);
  }
}
