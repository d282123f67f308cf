import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { processHandle } from "../../../base/processes/process-handle.ts";
import { defined } from "../../../base/records/defined.ts";
import { checkLanguage } from "../check-language.ts";
import { openFilesSession } from "../files-session.ts";
import type { Program, Ran, RunOptions, SandboxLimits, SandboxSession, SessionOptions } from "../sandbox.ts";
import type { SandboxFiles } from "../sandbox-files.ts";
import type { GuestLanguage } from "./guest/protocol.ts";
import type { GuestProcess } from "./guest-process.ts";
import type { Pool } from "./pool.ts";

/** An interpreter that keeps variables, and which changes to the files it has seen. */
interface Kept {
  process: GuestProcess;
  /** By language, the last change to the files that it has seen. */
  seen: Map<GuestLanguage, number>;
}

/**
 * Opens a session. Its files are kept here, so that they outlive interpreters. A program that keeps nothing
 * gets an unused interpreter. The session's other programs share one process.
 */
export function openWasmSession(
  pool: Pool,
  languages: readonly GuestLanguage[],
  limits: SandboxLimits,
  { hold }: SessionOptions,
): SandboxSession {
  return openFilesSession(limits.disk, (files) => wasmGuest(files, pool, languages, limits, hold));
}

function wasmGuest(
  files: SandboxFiles,
  pool: Pool,
  languages: readonly GuestLanguage[],
  limits: SandboxLimits,
  hold: SessionOptions["hold"],
) {
  let isClosed = false;
  let kept: Kept | undefined;
  let running: GuestProcess | undefined;

  async function run(program: Program, options: RunOptions): Promise<Ran> {
    const { language, code, stdin = "", keep = false } = program;
    options.signal?.throwIfAborted();
    checkLanguage("wasm", languages, language);
    const { process, seen } = await interpreter(language, keep);
    running = process;
    const abort = () => process.kill();
    options.signal?.addEventListener("abort", abort);
    try {
      options.signal?.throwIfAborted();
      const changes = files.since(seen.get(language) ?? 0);
      const { time, output } = { ...limits, ...options.limits };
      const began = performance.now();
      const answer = await process.run({
        language,
        code,
        stdin: stdin.toWellFormed(),
        time,
        output,
        ...changes,
      });
      options.signal?.throwIfAborted();
      const ran = ranOf(answer, process, (performance.now() - began) / 1000);
      const isFull = answer !== undefined && !files.change(answer.put, answer.removed);
      const isLost = answer === undefined || answer.lost;
      if (isLost) seen.delete(language);
      else seen.set(language, files.changes);
      return defined({
        ...ran,
        outcome: isFull ? "disk-limit" : ran.outcome,
        lost: keep && isLost ? "variables" : undefined,
      });
    } finally {
      options.signal?.removeEventListener("abort", abort);
      running = undefined;
      if (options.signal?.aborted || !keep || process.isOver) end(process);
    }
  }

  /** Returns the session's own interpreter, or one for a single program. */
  async function interpreter(language: GuestLanguage, keep: boolean): Promise<Kept> {
    if (keep && kept !== undefined && !kept.process.isOver) return kept;
    const process = await pool.take(language, limits);
    if (isClosed) {
      pool.end(process);
      throw new EverturnError("SANDBOX_CLOSED", {});
    }
    const taken = { process, seen: new Map() };
    if (!keep) return taken;
    hold?.(processHandle(process.pid));
    kept = taken;
    return taken;
  }

  function end(process: GuestProcess): void {
    pool.end(process);
    if (kept?.process === process) kept = undefined;
  }

  return {
    run,
    close: () => {
      isClosed = true;
      for (const process of [running, kept?.process]) if (process !== undefined) end(process);
    },
  };
}

/** Converts the process's report, or explains its end if there is none. */
function ranOf(
  answer: Awaited<ReturnType<GuestProcess["run"]>>,
  process: GuestProcess,
  seconds: number,
): Ran {
  if (answer === undefined) {
    const outcome = process.ranOutOfMemory ? "memory-limit" : "ended";
    return { outcome, stdout: "", stderr: "", seconds };
  }
  const { outcome, stdout, stderr, value, exitCode } = answer;
  return defined({
    outcome,
    stdout,
    stderr,
    seconds: answer.seconds,
    value,
    exitCode,
  });
}
