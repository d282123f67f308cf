import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** A process that does nothing until the test has finished, with these words on its command line. */
export async function waitingProcess(...words: string[]): Promise<{ child: ChildProcess; pid: number }> {
  const code = "process.stdout.write('up'); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", code, "--", ...words], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return { child, pid: child.pid ?? -1 };
}
