import { spawn } from "node:child_process";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { killProcess, processHandle } from "../../base/processes/process-handle.ts";
import { defined } from "../../base/records/defined.ts";
import type { PluginHostObserver } from "../../plugin/host/plugin-hosts.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { outputTail } from "./output-tail.ts";

interface Options {
  /** The agent's name in errors. */
  agent: string;
  settings: AgentSettings;
  /** Variables in addition to those of the settings. */
  environment: Record<string, string>;
  /** The text for its standard input. */
  input: string;
  signal: AbortSignal;
  /** Returns why it exceeded its time limit, from its last output. */
  timeUp(said: string): Error;
  /** Learns of the process, so that another worker ends it if this one dies. */
  observer: PluginHostObserver;
}

/** Milliseconds that it has to end by itself after SIGTERM. */
const grace = 2000;

/**
 * Runs an agent's process to its end, and then kills its whole process group. Returns what it wrote to file
 * descriptor 3. Throws the signal's reason, and AGENT_FAILED if the process can't be started, exceeds its
 * time or exits with a code other than 0.
 */
export async function runAgentProcess({
  agent,
  settings,
  environment,
  input,
  signal,
  timeUp,
  observer,
}: Options): Promise<string> {
  signal.throwIfAborted();
  const child = spawn(
    settings.command,
    settings.arguments,
    defined({
      detached: true,
      env: { ...settings.environment, ...environment },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      cwd: settings.folder,
    }),
  );
  const { pid } = child;
  const handle = processHandle(pid);
  const failed = (reason: string) => new EverturnError("AGENT_FAILED", { agent, reason });
  const output = outputTail();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => output.add(String(text)));
  let answer = "";
  child.stdio[3]?.on("data", (text: Buffer) => {
    answer += text;
  });
  child.stdin.on("error", () => {}); // it need not read its input
  child.stdin.end(input);
  const ended = Promise.withResolvers<void>();
  child.once("error", (error) => ended.reject(failed(`it can't be started: ${messageOf(error)}`)));
  child.once("close", (code, by) => {
    if (code === 0) ended.resolve();
    else ended.reject(failed(`it ended with ${by ?? `code ${code}`}${output.text()}`));
  });
  const stop = () => {
    child.kill("SIGTERM");
    setTimeout(() => killProcess(handle), grace).unref();
  };
  const limit = setTimeout(() => {
    ended.reject(timeUp(output.text()));
    stop();
  }, settings.timeout);
  const onAbort = () => {
    ended.reject(signal.reason);
    stop();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (pid !== undefined) observer.started(pid);
    await ended.promise;
    return answer;
  } finally {
    clearTimeout(limit);
    signal.removeEventListener("abort", onAbort);
    if (child.exitCode === null && child.signalCode === null && pid !== undefined) {
      await Promise.race([
        new Promise((resolve) => child.once("close", resolve)),
        new Promise((resolve) => setTimeout(resolve, grace + 1000)),
      ]);
    }
    killProcess(handle); // ends processes that it left behind
    if (pid !== undefined) observer.ended(pid);
  }
}
