import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { killOnExit } from "../../../base/processes/kill-on-exit.ts";
import { isObject } from "../../../contracts/json.ts";
import { isFilePath } from "../file-path.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { FromGuest, GuestLanguage, GuestRan, Run, ToGuest } from "./guest/protocol.ts";
import { denoArguments, denoEnvironment, type Runtime } from "./runtime-folder.ts";

/** Seconds beyond a program's own time in which the process must answer. */
const patience = 10;
const complaintLength = 2000;

/**
 * A process's report on a program, with all its output. Undefined if the process ended before it could
 * report.
 */
export type GuestAnswer = (GuestRan & { stdout: string; stderr: string }) | undefined;

/** A Deno process with interpreters of one session. Ending it affects no other session. */
export class GuestProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #key: string = randomUUID();
  #complaint = "";
  #heard: (message: FromGuest | undefined) => void = () => {};
  #isOver = false;

  constructor(runtime: Runtime, limits: SandboxLimits) {
    const { deno, folder, cache } = runtime;
    const script = join(folder, `main${extname(import.meta.filename)}`);
    this.#child = spawn(deno, [...denoArguments(folder), `--allow-read=${folder}`, script], {
      env: denoEnvironment(cache),
      stdio: "pipe",
    });
    killOnExit(this.#child);
    this.#child.stdin.on("error", () => {}); // it has ended, which `close` reports
    this.#child.stderr.on("data", (said: Buffer) => {
      this.#complaint = (this.#complaint + said.toString()).slice(-complaintLength);
    });
    const over = (error?: Error) => {
      if (error !== undefined) this.#complaint = error.message;
      this.#isOver = true;
      this.#heard(undefined);
    };
    this.#child.on("error", over);
    this.#child.on("close", () => over());
    createInterface(this.#child.stdout).on("line", (line) => {
      if (line.startsWith(`${this.#key} `)) this.#heard(read(line.slice(this.#key.length + 1)));
    });
    const { memory, disk } = limits;
    this.#tell({ type: "start", key: this.#key, memory, disk });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Starts an interpreter. Throws SANDBOX_FAILED. */
  prepare(language: GuestLanguage): Promise<void> {
    return new Promise((resolve, reject) => {
      const failed = (reason: string) => {
        this.kill();
        reject(new EverturnError("SANDBOX_FAILED", { kind: "wasm", reason }));
      };
      this.#heard = (message) => {
        if (message === undefined) failed(this.#complaint.trim() || "Deno ended");
        else if (message.type === "ready") resolve();
        else if (message.type === "unusable") failed(message.reason);
      };
      this.#tell({ type: "prepare", language });
      if (this.#isOver) this.#heard(undefined);
    });
  }

  /** Runs a program in the language's interpreter. Starts the interpreter if necessary. */
  run(program: Omit<Run, "type">): Promise<GuestAnswer> {
    const said = { stdout: "", stderr: "" };
    return new Promise((resolve) => {
      const late = setTimeout(() => this.kill(), (program.time + patience) * 1000);
      const answer = (ran: GuestRan | undefined) => {
        clearTimeout(late);
        this.#heard = () => {};
        resolve(ran && { ...ran, ...said });
      };
      this.#heard = (message) => {
        if (message === undefined) answer(undefined);
        else if (message.type === "output") said[message.stream] += message.text;
        else if (message.type === "ran") answer(message);
      };
      this.#tell({ type: "run", ...program });
      if (this.#isOver) answer(undefined);
    });
  }

  /** Whether V8 reported that it ran out of memory. */
  get ranOutOfMemory(): boolean {
    return /out of memory|OOM/i.test(this.#complaint);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #tell(message: ToGuest): void {
    if (!this.#isOver) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

/**
 * Parses a message of the process. Its main thread runs no programs, but it forwards messages of
 * interpreters, which may be anything.
 */
function read(line: string): FromGuest | undefined {
  const message: FromGuest = JSON.parse(line);
  if (message.type !== "ran") return message;
  const { outcome, value, exitCode, put, removed } = message;
  const isText = (said: unknown) => typeof said === "string";
  const isRight =
    outcomes.includes(outcome) &&
    (value === undefined || isText(value)) &&
    (exitCode === undefined || Number.isInteger(exitCode)) &&
    isObject(put) &&
    Object.entries(put).every(([path, content]) => isText(content) && isFilePath(path)) &&
    Array.isArray(removed) &&
    removed.every((path) => isText(path) && isFilePath(path));
  return isRight ? message : undefined;
}

const outcomes: readonly string[] = [
  "finished",
  "failed",
  "time-limit",
  "memory-limit",
  "output-limit",
  "disk-limit",
  "ended",
];
