import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { type Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { sendSignal } from "../../../base/processes/send-signal.ts";
import { defined } from "../../../base/records/defined.ts";

/** How to run a client: a process that passes on a command of a container. */
interface ClientOptions {
  stdin?: string | Uint8Array | undefined;
  environment?: Record<string, string> | undefined;
  /** The content of file descriptor 3. Default: it is closed. */
  input?: Buffer | undefined;
  /**
   * Leaves file descriptor 3 open until the command is stopped or this process dies, so that the command can end then.
   * Default: false.
   */
  isHeld?: boolean;
  /** Seconds. */
  time: number;
  /** Bytes of standard output, and the same number for standard error. */
  output: number;
  /**
   * The text that the command writes first to standard error. Its time counts from then, because a client may be slow to
   * start it. The text does not count as output. Default: "", and the time counts from the start of the client.
   */
  begins?: string;
  signal?: AbortSignal | undefined;
  /** Ends the command, which does not end with its client. Default: nothing. */
  stop?: () => void;
}

/** What became of a client. */
export interface ClientEnd {
  /** Undefined if it had to be stopped, or if a signal ended it. */
  exitCode?: number;
  /** "start-limit" if its command did not begin in time. */
  stoppedBy?: "start-limit" | "time-limit" | "output-limit" | "abort";
  stdout: Buffer;
  stderr: Buffer;
  seconds: number;
  /** It did not end after the command was stopped, and was killed. */
  isStuck: boolean;
}

/** Milliseconds in which a client must end after its command was stopped. */
const patience = 5000;
/** Milliseconds in which a client must start its command. */
const startPatience = 60_000;

/** Runs a client to its end, which its limits or its signal may bring about. Throws if it can't be started. */
export async function runClient(
  [program = "", ...parameters]: readonly string[],
  { stdin = "", environment, input, isHeld = false, time, output, begins = "", signal, stop }: ClientOptions,
): Promise<ClientEnd> {
  let began = performance.now();
  const child = spawn(program, parameters, {
    cwd: isHeld ? "/" : tmpdir(), // podman leaves a file there when memory runs out
    env: { ...process.env, ...environment },
    stdio: input === undefined && !isHeld ? "pipe" : ["pipe", "pipe", "pipe", "pipe"],
    detached: isHeld,
  });
  const kill = () => {
    if (!isHeld || child.pid === undefined) child.kill("SIGKILL");
    else sendSignal(-child.pid, "SIGKILL"); // it has processes of its own on this machine
  };
  const fourth = child.stdio[3];
  if (fourth instanceof Writable) {
    fourth.on("error", () => {});
    if (!isHeld) fourth.end(input);
  }
  const closed = once(child, "close");
  let stoppedBy: ClientEnd["stoppedBy"];
  let isStuck = false;
  const stopFor = (reason: NonNullable<ClientEnd["stoppedBy"]>) => {
    if (stoppedBy !== undefined) return;
    stoppedBy = reason;
    if (stop !== undefined) stop();
    else if (isHeld) fourth?.destroy();
    else kill();
    void Promise.race([closed, sleep(patience, undefined, { ref: false })]).then(() => {
      isStuck = child.exitCode === null && child.signalCode === null;
      if (isStuck) kill();
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
  };
  const inTime = () => setTimeout(() => stopFor("time-limit"), 1000 * time);
  let late = begins === "" ? inTime() : setTimeout(() => stopFor("start-limit"), startPatience);
  const abort = () => stopFor("abort");
  signal?.addEventListener("abort", abort);
  if (signal?.aborted === true) abort();
  const keep = (stream: Readable, most: number): Buffer[] => {
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on("data", (chunk: Buffer) => {
      if (length < most) chunks.push(chunk.subarray(0, most - length));
      length += chunk.length;
      if (length > most) stopFor("output-limit");
    });
    return chunks;
  };
  const [stdout, stderr] = [keep(child.stdout, output), keep(child.stderr, output + begins.length)];
  const awaitBeginning = () => {
    if (!beginsWith(Buffer.concat(stderr), begins)) return;
    child.stderr.off("data", awaitBeginning);
    began = performance.now();
    clearTimeout(late);
    late = inTime();
  };
  if (begins !== "") child.stderr.on("data", awaitBeginning);
  child.stdin.on("error", () => {}); // the command has ended or does not read it
  child.stdin.end(stdin);
  try {
    await closed;
  } finally {
    clearTimeout(late);
    signal?.removeEventListener("abort", abort);
  }
  return defined<ClientEnd>({
    exitCode: stoppedBy === undefined ? (child.exitCode ?? undefined) : undefined,
    stoppedBy,
    stdout: Buffer.concat(stdout),
    stderr: Buffer.concat(stderr),
    seconds: (performance.now() - began) / 1000,
    isStuck,
  });
}

/** Whether an output begins with an ASCII text. */
export function beginsWith(output: Buffer, text: string): boolean {
  return output.subarray(0, text.length).toString() === text;
}
