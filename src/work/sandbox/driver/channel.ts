import { type ChildProcess, spawn } from "node:child_process";
import { type Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../../contracts/json.ts";
import { isObject } from "../../../contracts/json.ts";

/** A sandbox's process, and requests to the driver in it, one at a time. */
export interface Channel {
  readonly child: ChildProcess;
  /** Returns the driver's answer. Undefined if it has ended or answers anything invalid. */
  ask(request: JsonObject): Promise<JsonObject | undefined>;
  /**
   * Returns the signal that ended a process which no longer answers, if any. Waits up to a second for its
   * end.
   */
  killer(): Promise<NodeJS.Signals | undefined>;
  /** The sandbox's message about why it did not start. */
  complaint(): string;
  /** Kills everything in it, and waits for the end. */
  end(): Promise<void>;
}

const longestComplaint = 4096;

/**
 * Starts a sandbox with its command and its seccomp filter. Answers are limited to `mostAnswered` characters.
 */
export function openChannel(
  [command = "", ...parameters]: string[],
  { env, filter, mostAnswered }: { env: NodeJS.ProcessEnv; filter: Buffer | undefined; mostAnswered: number },
): Channel {
  const child = spawn(command, parameters, { env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
  const { stdin, stdout, stderr } = child;
  const filtered = child.stdio[3];
  if (!(filtered instanceof Writable)) throw new Error("a process was started without its fourth pipe");
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  for (const stream of [stdin, filtered]) stream.on("error", () => {}); // if it has ended, the missing answer shows that
  filtered.end(filter ?? Buffer.alloc(0));
  let complaint = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(0, longestComplaint);
  });
  child.once("error", (error) => {
    complaint += error.message;
  });
  const answers = lines(stdout, mostAnswered);
  return {
    child,
    killer: async () => {
      await Promise.race([ended, sleep(1000, undefined, { ref: false })]);
      return child.signalCode ?? undefined;
    },
    complaint: () => complaint.trim(),
    async ask(request) {
      stdin.write(`${JSON.stringify(request)}\n`);
      const { value } = await answers.next();
      return value === undefined ? undefined : parsed(value);
    },
    async end() {
      child.kill("SIGKILL");
      if (child.pid !== undefined) await ended;
    },
  };
}

/** The lines of a stream. Ends at a line that is longer than `most`. */
async function* lines(stream: Readable, most: number): AsyncGenerator<string, undefined> {
  const parts: string[] = [];
  let length = 0;
  for await (const chunk of stream.setEncoding("utf8")) {
    for (const [index, part] of String(chunk).split("\n").entries()) {
      if (index > 0) {
        yield parts.join("");
        parts.length = length = 0;
      }
      length += part.length;
      if (length > most) return undefined;
      parts.push(part);
    }
  }
  return undefined;
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
