import { isObject, type JsonObject } from "../../contracts/json.ts";
import { EverturnError } from "../../errors/everturn-error.ts";
import { processHandle } from "../../processes/process-handle.ts";
import { oneAtATime } from "../../promises/one-at-a-time.ts";
import { filePath } from "../file-path.ts";
import type { Program, Ran, RunOptions, SandboxLimits, SandboxSession, SessionOptions } from "../sandbox.ts";
import { ranOf } from "./ran-of.ts";
import type { RunningSandbox } from "./running-sandbox.ts";

/** Where the sandboxes of sessions come from. */
export interface Sandboxes {
  kind: string;
  /** Starts one. Throws SANDBOX_FAILED, the signal's reason. */
  start(limits: SandboxLimits, options: SessionOptions): Promise<RunningSandbox>;
  /** One that was started ahead and that nobody has used, if there is one. */
  ready(limits: SandboxLimits): Promise<RunningSandbox | undefined>;
}

/** Seconds beyond a run's time in which the driver has to answer. */
const patience = 5;

/** Opens a session in a sandbox of its own, which is another one after its programs have brought it down. */
export async function openSession(
  sandboxes: Sandboxes,
  limits: SandboxLimits,
  { environment, hold, signal }: SessionOptions,
): Promise<SandboxSession> {
  const inTurn = oneAtATime();
  let isClosed = false;
  let running: RunningSandbox | undefined = await take(signal);

  async function take(signal?: AbortSignal): Promise<RunningSandbox> {
    const ready = await sandboxes.ready(limits);
    if (ready === undefined)
      return sandboxes.start(limits, {
        ...(environment && { environment }),
        ...(hold && { hold }),
        ...(signal && { signal }),
      });
    if (signal?.aborted === true) await ready.end();
    signal?.throwIfAborted();
    hold?.(processHandle(ready.channel.child.pid));
    return ready;
  }

  function failed(reason: string): EverturnError {
    return new EverturnError("SANDBOX_FAILED", { kind: sandboxes.kind, reason });
  }

  /** Ends what runs; the next request has another one. */
  async function drop(): Promise<void> {
    const was = running;
    running = undefined;
    await was?.end();
  }

  async function asked(request: JsonObject): Promise<JsonObject> {
    running ??= await take();
    const answer = await running.channel.ask(request);
    if (answer !== undefined && answer.failed === undefined) return answer;
    await drop();
    throw failed(String(answer?.failed ?? "it ended"));
  }

  async function run(program: Program, options: RunOptions): Promise<Ran> {
    options.signal?.throwIfAborted();
    running ??= await take();
    const { channel, group } = running;
    const kills = group?.kills() ?? 0;
    const began = performance.now();
    const time = options.limits?.time ?? limits.time;
    let isLate = false;
    const kill = () => void channel.child.kill("SIGKILL");
    const late = setTimeout(
      () => {
        isLate = true;
        kill();
      },
      1000 * (time + patience),
    );
    options.signal?.addEventListener("abort", kill);
    try {
      const { language, code, stdin = "", keep = false } = program;
      const answer = await channel.ask({
        ...{ do: "run", language, code, stdin, keep },
        limits: { ...options.limits },
      });
      options.signal?.throwIfAborted();
      const wasKilled = group !== undefined && group.kills() > kills;
      const ran = ranOf(answer, wasKilled);
      if (ran !== undefined) return ran;
      const killer = answer === undefined && !isLate && !wasKilled ? await channel.killer() : undefined;
      await drop();
      if (killer !== undefined) throw failed(`it was ended by ${killer}`); // which no program in it can send
      const outcome = isLate ? "time-limit" : wasKilled ? "memory-limit" : "ended";
      return {
        outcome,
        stdout: "",
        stderr: "",
        seconds: (performance.now() - began) / 1000,
        lost: "everything",
      };
    } catch (error) {
      await drop();
      throw error;
    } finally {
      clearTimeout(late);
      options.signal?.removeEventListener("abort", kill);
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
        const contents = Object.entries(files).map(([path, content]) => [
          filePath(path),
          Buffer.from(content).toString("base64"),
        ]);
        const { full } = await asked({ do: "write", files: Object.fromEntries(contents) });
        if (full === true) throw new EverturnError("SANDBOX_DISK_FULL", { disk: limits.disk });
      }),
    read: (path) =>
      inTurn("session", async () => {
        open();
        const { content } = await asked({ do: "read", path: filePath(path) });
        return typeof content === "string" ? Buffer.from(content, "base64") : undefined;
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

function fileOf({ path, size }: JsonObject): { path: string; size: number } {
  return { path: String(path), size: Number(size) };
}
