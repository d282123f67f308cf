import { oneAtATime } from "../../../base/async/one-at-a-time.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { processHandle } from "../../../base/processes/process-handle.ts";
import { defined } from "../../../base/records/defined.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import { filePath } from "../file-path.ts";
import type { Program, Ran, RunOptions, SandboxLimits, SandboxSession, SessionOptions } from "../sandbox.ts";
import { ranOf } from "./ran-of.ts";
import type { RunningSandbox } from "./running-sandbox.ts";

/** The source of sandboxes for sessions. */
export interface Sandboxes {
  kind: string;
  /** Starts a sandbox. Throws SANDBOX_FAILED, or the signal's reason. */
  start(limits: SandboxLimits, options: SessionOptions): Promise<RunningSandbox>;
  /** Returns an unused prestarted sandbox, if there is one. */
  ready(limits: SandboxLimits): Promise<RunningSandbox | undefined>;
}

/** Seconds in which the driver must answer: beyond a run's own time, and for other requests. */
const patience = 5;
const longest = 60;
/** The bytes of files that one request reads or writes. The driver has little memory. */
const part = 4 * 2 ** 20;

/** Opens a session in its own sandbox. If a program brings the sandbox down, another one replaces it. */
export async function openSandboxSession(
  sandboxes: Sandboxes,
  limits: SandboxLimits,
  { environment, hold, signal: openSignal }: SessionOptions,
): Promise<SandboxSession> {
  const inTurn = oneAtATime();
  let isClosed = false;
  let running: RunningSandbox | undefined = await take(openSignal);
  /**
   * Whether a program has run in it. A later failure may then be that program's fault rather than the
   * machine's.
   */
  let isUsed = false;
  /** Whether programs have lost their files and no run has reported it yet. */
  let isLost = false;

  async function take(signal?: AbortSignal): Promise<RunningSandbox> {
    const ready = await sandboxes.ready(limits);
    if (ready === undefined)
      return sandboxes.start(
        limits,
        defined({
          environment,
          hold,
          signal,
        }),
      );
    if (signal?.aborted === true) await ready.end();
    signal?.throwIfAborted();
    hold?.(processHandle(ready.channel.child.pid));
    return ready;
  }

  function failed(reason: string): EverturnError {
    return new EverturnError("SANDBOX_FAILED", { kind: sandboxes.kind, reason });
  }

  /** Ends the sandbox. The next request gets another one. */
  async function drop(): Promise<void> {
    const was = running;
    running = undefined;
    isLost ||= isUsed;
    isUsed = false;
    await was?.end();
  }

  /** Returns the driver's answer to a request, or the reason why none came. */
  async function answered(
    { channel, group }: RunningSandbox,
    request: JsonObject,
    seconds: number,
    signal?: AbortSignal,
  ): Promise<Answered> {
    const kills = group?.kills() ?? 0;
    let [isAnswered, isLate] = [false, false];
    const kill = () => void channel.child.kill("SIGKILL");
    const giveUp = () => {
      if (isAnswered) return;
      isLate = true;
      kill();
    };
    // If this thread was busy, the answer may already be here.
    const late = setTimeout(() => setImmediate(giveUp), 1000 * seconds);
    signal?.addEventListener("abort", kill);
    try {
      const answer = await channel.ask(request);
      isAnswered = true;
      signal?.throwIfAborted();
      const wasKilled = group !== undefined && group.kills() > kills;
      const killer = answer === undefined && !isLate && !wasKilled ? await channel.killer() : undefined;
      if (killer !== undefined) throw failed(`it was ended by ${killer}`); // no program in it can send this signal
      return { answer, isLate, wasKilled };
    } catch (error) {
      await drop();
      throw error;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener("abort", kill);
    }
  }

  /**
   * Makes a request that does not run a program. If a sandbox fails at it, a new one replaces it, because
   * programs may have broken the first. If a sandbox that has run no program fails, the machine is at fault.
   */
  async function asked(request: JsonObject): Promise<JsonObject> {
    running ??= await take();
    const { answer } = await answered(running, request, longest);
    if (answer !== undefined && answer.failed === undefined) return answer;
    const wasUsed = isUsed;
    await drop();
    if (wasUsed) return asked(request);
    throw failed(String(answer?.failed ?? "it ended"));
  }

  async function run(program: Program, options: RunOptions): Promise<Ran> {
    options.signal?.throwIfAborted();
    running ??= await take();
    const began = performance.now();
    const time = options.limits?.time ?? limits.time;
    const { language, code, stdin = "", keep = false } = program;
    const wasUsed = isUsed;
    isUsed = true;
    const { answer, isLate, wasKilled } = await answered(
      running,
      {
        do: "run",
        language,
        code,
        keep,
        stdin: stdin.toWellFormed(),
        limits: { ...options.limits },
      },
      time + patience,
      options.signal,
    );
    if (answer?.refused !== undefined) {
      isUsed = wasUsed;
      await drop();
      if (wasUsed) return run(program, options);
      throw failed(String(answer.refused));
    }
    const ran = ranOf(answer, wasKilled);
    if (ran === undefined) await drop();
    const lost = isLost ? ({ lost: "everything" } as const) : {};
    isLost = false;
    if (ran !== undefined) return { ...ran, ...lost };
    const outcome = isLate ? "time-limit" : wasKilled ? "memory-limit" : "ended";
    const seconds = (performance.now() - began) / 1000;
    return { outcome, stdout: "", stderr: "", seconds, ...lost };
  }

  /**
   * Writes all of the files into one sandbox. Starts over if a program forces a change of sandbox on the way.
   */
  async function write(files: (readonly [string, Buffer])[]): Promise<void> {
    running ??= await take();
    const first = running;
    for (const parts of partsOf(files)) {
      const { full, gone } = await asked({ do: "write", parts });
      if (full === true) throw new EverturnError("SANDBOX_DISK_FULL", { disk: limits.disk });
      if (gone === undefined && running === first) continue;
      if (gone !== undefined && !isUsed) throw failed("what it wrote is gone");
      if (gone !== undefined) await drop();
      return write(files);
    }
  }

  async function read(path: string): Promise<Uint8Array | undefined> {
    const parts: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { content } = await asked({ do: "read", path, from: length, most: part });
      if (typeof content !== "string") return undefined;
      const bytes = Buffer.from(content, "base64");
      parts.push(bytes);
      length += bytes.length;
      if (bytes.length < part || length > limits.disk * 2 ** 20) return Buffer.concat(parts);
    }
  }

  function open(): void {
    if (isClosed) throw new EverturnError("SANDBOX_CLOSED", {});
  }

  return {
    run: (program, options = {}) =>
      inTurn("session", async () => {
        open();
        return run(program, options);
      }),
    write: (files) =>
      inTurn("session", async () => {
        open();
        const contents = Object.entries(files).map(
          ([path, content]) => [filePath(path), Buffer.from(content)] as const,
        );
        await write(contents);
      }),
    read: (path) =>
      inTurn("session", async () => {
        open();
        return read(filePath(path));
      }),
    list: () =>
      inTurn("session", async () => {
        open();
        const { files } = await asked({ do: "list" });
        return Array.isArray(files) ? files.filter(isObject).map(fileOf) : [];
      }),
    close: async () => {
      isClosed = true;
      await drop();
    },
  };
}

/** Splits files into requests. Each part has its path, and whether it continues the part before it. */
function* partsOf(files: (readonly [string, Buffer])[]): Generator<[string, string, boolean][]> {
  let parts: [string, string, boolean][] = [];
  let size = 0;
  for (const [path, content] of files) {
    for (let from = 0; from === 0 || from < content.length; from += part) {
      const bytes = content.subarray(from, from + part);
      if (size + bytes.length > part) {
        yield parts;
        parts = [];
        size = 0;
      }
      parts.push([path, bytes.toString("base64"), from > 0]);
      size += bytes.length;
    }
  }
  yield parts;
}

interface Answered {
  /** Undefined if the driver has ended or answered anything invalid. */
  answer: JsonObject | undefined;
  /** It was stopped because it took too long. */
  isLate: boolean;
  /** The kernel killed some of its processes because memory ran out. */
  wasKilled: boolean;
}

function fileOf({ path, size }: JsonObject): { path: string; size: number } {
  return { path: String(path), size: Number(size) };
}
