import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import { oneAtATime } from "../../../base/async/one-at-a-time.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { defined } from "../../../base/records/defined.ts";
import { checkLanguage } from "../check-language.ts";
import { filePath } from "../file-path.ts";
import type { Language, Program, Ran, SandboxLimits } from "../sandbox.ts";
import type { Command, ContainerFiles, ContainerOptions, ContainerSession } from "./container.ts";
import { beginsWith, type ClientEnd } from "./run-client.ts";
import type { Changes, Pressure, RunningContainer, StartContainer } from "./running-container.ts";
import {
  filesListed,
  filesRead,
  listScript,
  quoted,
  readScript,
  workingFolder,
  writeScript,
} from "./scripts.ts";
import { joinedArchives } from "./tar-blocks.ts";

/** What sessions of a kind share. */
export interface ContainerKind {
  kind: string;
  languages: readonly Language[];
  start: StartContainer;
}

/** Seconds for a request that runs no program. */
const patience = 60;
/** The bytes of a program that may be an argument of a process. */
const longestArgument = 100_000;
/** How often the kernel found no memory or no process for a container: control groups of version 2 and 1. */
const pressureScript =
  "cd /sys/fs/cgroup; for group in . memory pids; do for file in memory.events memory.oom_control pids.events; do [ -r $group/$file ] && sed s/^/$file' '/ $group/$file; done; done; exit 0";

/** Opens a session in a container. If a program brings it down, another one replaces it. */
export async function openContainerSession(
  { kind, languages, start }: ContainerKind,
  limits: SandboxLimits,
  options: ContainerOptions,
): Promise<ContainerSession> {
  const inTurn = oneAtATime();
  const { signal: _, ...later } = options;
  /** The bytes of output in which all files fit. */
  const longest = Math.ceil(1.4 * limits.disk * 2 ** 20) + 2 ** 20;
  let isClosed = false;
  let isUsed = false;
  let isLost = false;
  let pressure: Pressure = { memory: 0, processes: 0 };
  let running: RunningContainer | undefined = await begin(options);
  if (options.from !== undefined) await restore(options.from);

  async function begin(from: ContainerOptions): Promise<RunningContainer> {
    const begun = await start(limits, from);
    options.hold?.(begun.handle);
    pressure = { memory: 0, processes: 0 };
    return begun;
  }

  function failed(reason: string): EverturnError {
    return new EverturnError("SANDBOX_FAILED", { kind, reason });
  }

  async function drop(): Promise<void> {
    const was = running;
    running = undefined;
    isLost ||= isUsed;
    isUsed = false;
    await was?.end();
  }

  /** Runs a command in the container, and drops a container that is of no more use. */
  async function ran(command: Command, most: { time: number; output: number }) {
    running ??= await begin(later);
    const { exec: execute, tidy, over } = running;
    const begun = randomBytes(8).toString("hex");
    // A container's client has exit codes of its own: only what the command's shell prints first shows that it began.
    const text = `printf ${begun} >&2; exec sh -c ${quoted(command.command)}`;
    const { stdin, folder, user, environment, signal } = command;
    const how = {
      ...most,
      stdin,
      folder,
      user,
      environment,
      signal,
      begins: begun,
    };
    const end = await execute(text, how).catch(async (error: unknown) => {
      await drop(); // nobody knows what the command did
      throw error;
    });
    const wasOver = over();
    if (end.isStuck || wasOver !== undefined) await drop();
    else tidy();
    command.signal?.throwIfAborted();
    const isBegun = beginsWith(end.stderr, begun);
    const stderr = isBegun ? end.stderr.subarray(begun.length) : end.stderr;
    if (wasOver?.signal !== undefined) throw failed(`it was ended by ${wasOver.signal}`);
    return { ...end, stderr, isBegun, isOver: wasOver !== undefined };
  }

  async function exec(command: Command): Promise<Ran> {
    command.signal?.throwIfAborted();
    const wasUsed = isUsed;
    const most = { time: limits.time, output: limits.output, ...command.limits };
    pressure = (await running?.pressure?.()) ?? pressure; // of earlier commands, whatever became of them
    const end = await ran(command, most);
    if (end.stoppedBy === "start-limit" || (!end.isBegun && end.stoppedBy === undefined)) {
      await drop();
      if (wasUsed) return exec(command); // earlier programs left no room for this one
      throw failed(end.stderr.toString().trim() || "the command did not begin");
    }
    isUsed = true;
    const outcome = await outcomeOf(end);
    const lost = isLost;
    isLost = false;
    return defined<Ran>({
      outcome,
      stdout: end.stdout.toString(),
      stderr: end.stderr.toString(),
      exitCode: end.exitCode,
      seconds: end.seconds,
      lost: lost ? "everything" : undefined,
    });
  }

  async function outcomeOf({
    stoppedBy,
    exitCode,
    isOver,
  }: ClientEnd & { isOver: boolean }): Promise<Ran["outcome"]> {
    if (stoppedBy === "time-limit" || stoppedBy === "output-limit") return stoppedBy;
    if (isOver) return "ended";
    if (exitCode === 0) return "finished";
    const before = pressure;
    pressure = (await running?.pressure?.()) ?? (await pressureInside());
    if (pressure.memory > before.memory) return "memory-limit";
    return pressure.processes > before.processes ? "process-limit" : "failed";
  }

  async function pressureInside(): Promise<Pressure> {
    const end = await ran({ command: pressureScript }, { time: patience, output: 65_536 });
    if (end.isBegun) return pressureIn(end.stdout.toString());
    running?.stop?.(); // there is no room for another process
    return { ...pressure, processes: pressure.processes + 1 };
  }

  /**
   * Makes a request that runs no program. If programs have made it impossible, another container replaces theirs.
   */
  async function asked(command: Command, output = 2 ** 16): Promise<Buffer> {
    const answer = await answered(command, output);
    if (answer !== undefined) return answer;
    return asked(command, output);
  }

  /** Makes a request of the container's own files. Throws SANDBOX_FAILED if they are lost. */
  async function askedOfFiles(command: Command, output: number): Promise<Buffer> {
    const answer = isLost ? undefined : await answered(command, output);
    if (answer !== undefined) return answer;
    throw failed("its files are lost");
  }

  /** Undefined if programs have made the request impossible. */
  async function answered(command: Command, output: number): Promise<Buffer | undefined> {
    const end = await ran({ ...command, user: "0" }, { time: patience, output });
    if (end.exitCode === 0 && end.isBegun) return end.stdout;
    if (end.stoppedBy === "output-limit") throw new EverturnError("SANDBOX_DISK_FULL", { disk: limits.disk });
    const wasUsed = isUsed;
    await drop();
    if (wasUsed) return undefined;
    throw failed(end.stderr.toString().trim() || `a request ended with ${end.exitCode ?? end.stoppedBy}`);
  }

  async function put(files: ContainerFiles): Promise<void> {
    const size = Object.values(files).reduce((sum, content) => sum + Buffer.byteLength(content), 0);
    if (size > limits.disk * 2 ** 20) throw new EverturnError("SANDBOX_DISK_FULL", { disk: limits.disk });
    await asked({ command: "exec sh -s", stdin: writeScript(files) });
    isUsed = true;
  }

  async function take(path: string): Promise<Record<string, Uint8Array>> {
    return filesRead((await askedOfFiles({ command: readScript(path) }, longest)).toString());
  }

  async function save({ changed, removed }: Changes): Promise<Uint8Array> {
    const names = changed.filter(isSaved).map((path) => `${path.slice(1)}\0`);
    const archive = await askedOfFiles({ command: saveScript, stdin: names.join("") }, longest);
    return Buffer.concat([
      Buffer.from(`${JSON.stringify(removed.filter(isSaved))}\n`),
      joinedArchives(archive),
    ]);
  }

  /** Makes a new container's files those of a snapshot. */
  async function restore(snapshot: Uint8Array): Promise<void> {
    const bytes = Buffer.from(snapshot);
    const end = bytes.indexOf("\n");
    const removed: unknown = JSON.parse(bytes.subarray(0, end).toString());
    const paths = Array.isArray(removed) ? removed.map((path) => quoted(String(path))).join(" ") : "";
    try {
      await asked({ command: `rm -rf ${paths}; ${restoreScript}`, stdin: bytes.subarray(end + 1) });
      isUsed = true;
    } catch (error) {
      await drop();
      throw error;
    }
  }

  async function run({ language, code, stdin = "", keep = false }: Program, rest: RunRest): Promise<Ran> {
    checkLanguage(kind, languages, language);
    if (keep) throw new EverturnError("SANDBOX_KEEPS_NOTHING", { kind });
    const interpreter = interpreters[language];
    const isShort = Buffer.byteLength(code) < longestArgument;
    if (!isShort) await put({ [programFile]: code });
    const command = isShort
      ? `exec ${interpreter.text} ${quoted(code)}`
      : `exec ${interpreter.file} ${programFile}`;
    return exec({ ...rest, command, stdin: stdin.toWellFormed(), folder: workingFolder });
  }

  function turn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn("session", async () => {
      if (isClosed) throw new EverturnError("SANDBOX_CLOSED", {});
      return work();
    });
  }

  return {
    run: (program, rest = {}) => turn(() => run(program, rest)),
    exec: (command) => turn(() => exec(command)),
    write: (files) =>
      turn(() =>
        put(
          Object.fromEntries(
            Object.entries(files).map(([path, content]) => [
              posix.join(workingFolder, filePath(path)),
              content,
            ]),
          ),
        ),
      ),
    read: (path) =>
      turn(async () => {
        const whole = posix.join(workingFolder, filePath(path));
        return filesRead((await asked({ command: readScript(whole) }, longest)).toString())[whole];
      }),
    list: () => turn(async () => filesListed((await asked({ command: listScript }, 2 ** 21)).toString())),
    put: (files) =>
      turn(() => {
        for (const path of Object.keys(files)) absolute(path);
        return put(files);
      }),
    take: (path) => turn(() => take(absolute(path))),
    snapshot: () =>
      turn(async () => {
        if (isLost) throw failed("its files are lost");
        running ??= await begin(later);
        return save(await running.changes());
      }),
    close: async () => {
      isClosed = true;
      await drop();
    },
  };
}

/** The kernel's and the engine's own files, which every container has. */
const everywhere = [
  "/dev",
  "/proc",
  "/sys",
  "/etc/hosts",
  "/etc/hostname",
  "/etc/resolv.conf",
  "/run/.containerenv",
  "/.dockerenv",
];

function isSaved(path: string): boolean {
  return !everywhere.some((one) => path === one || path.startsWith(`${one}/`));
}

/** Files that vanish meanwhile make tar fail. The others are in its archive. */
const saveScript =
  "command -v tar xargs >/dev/null && cd / && { xargs -0 tar -c --no-recursion -f - 2>/dev/null || true; }";
const restoreScript = "tar -x -p -f - -C /";

type RunRest = Pick<Command, "signal" | "limits">;

const programFile = "/tmp/everturn-program";
const interpreters: Record<Language, { text: string; file: string }> = {
  shell: { text: "sh -c", file: "sh" },
  python: { text: "python3 -s -B -c", file: "python3 -s -B" },
  javascript: { text: "node -e", file: "node" },
};

/** Throws SANDBOX_PATH_INVALID for a path that is not absolute and plain. */
function absolute(path: string): string {
  const isPlain =
    path.startsWith("/") && path !== "/" && posix.normalize(path) === path && !path.includes("\0");
  if (!isPlain || path.endsWith("/")) throw new EverturnError("SANDBOX_PATH_INVALID", { path });
  return path;
}

function pressureIn(printed: string): Pressure {
  const sum = (pattern: RegExp) =>
    [...printed.matchAll(pattern)].reduce((total, [, count]) => total + Number(count), 0);
  return {
    memory: sum(/^memory\.\w+ oom_kill (\d+)$/gm),
    processes: sum(/^pids\.events max (\d+)$/gm),
  };
}
