import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";
import { checkLanguage } from "../check-language.ts";
import { ranOf } from "../driver/ran-of.ts";
import { isFilePath } from "../file-path.ts";
import { openFilesSession } from "../files-session.ts";
import type { Language, Program, Ran, RunOptions, SandboxLimits, SandboxSession } from "../sandbox.ts";
import type { SandboxFiles } from "../sandbox-files.ts";
import { type GuestProgram, guestAnswer, guestProgram } from "./guest-program.ts";

/**
 * A program's outcome on the server: the file that the guest wrote, unless the guest was brought down. The
 * server's own failures throw SANDBOX_FAILED instead.
 */
export interface Served {
  answer?: Buffer;
  isLate: boolean;
}

/** A server that runs one program per request and keeps no state. */
export interface Server {
  kind: string;
  languages: readonly Language[];
  serve(program: GuestProgram, signal: AbortSignal | undefined): Promise<Served>;
}

/** Opens a session. Its files are kept here and sent to the server with each program. */
export function openRemoteSession(server: Server, limits: SandboxLimits): SandboxSession {
  const { kind, languages } = server;

  async function run(
    files: SandboxFiles,
    program: Program,
    { signal, limits: own }: RunOptions,
  ): Promise<Ran> {
    const { language, keep = false } = program;
    signal?.throwIfAborted();
    checkLanguage(kind, languages, language);
    if (keep) throw new EverturnError("SANDBOX_KEEPS_NOTHING", { kind });
    const guest = guestProgram(program, { ...limits, ...own }, files.since(0).put);
    const began = performance.now();
    const { answer, isLate } = await server.serve(guest, signal);
    signal?.throwIfAborted();
    const told = guestAnswer(answer);
    const ran = ranOf(told, false);
    const changes = ran === undefined ? undefined : changesOf(told);
    if (ran === undefined || changes === undefined) {
      const seconds = (performance.now() - began) / 1000;
      return { outcome: isLate ? "time-limit" : "ended", stdout: "", stderr: "", seconds };
    }
    const { lost: _, ...rest } = ran;
    return files.change(changes.put, changes.removed) ? rest : { ...rest, outcome: "disk-limit" };
  }

  return openFilesSession(limits.disk, (files) => ({
    run: (program, options) => run(files, program, options),
    close: () => {}, // the server keeps nothing
  }));
}

/** The files that a program changed. Undefined if their description is invalid. */
function changesOf({
  put,
  removed,
}: JsonObject = {}): { put: Record<string, string>; removed: string[] } | undefined {
  if (!isObject(put) || !Array.isArray(removed)) return undefined;
  const written: [string, string][] = [];
  const gone: string[] = [];
  for (const [path, content] of Object.entries(put)) {
    if (typeof content !== "string" || !isFilePath(path)) return undefined;
    written.push([path, content]);
  }
  for (const path of removed) {
    if (typeof path !== "string" || !isFilePath(path)) return undefined;
    gone.push(path);
  }
  return { put: Object.fromEntries(written), removed: gone };
}
