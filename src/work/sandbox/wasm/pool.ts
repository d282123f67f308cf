import { limitsOf } from "../limits.ts";
import type { SandboxLimits } from "../sandbox.ts";
import { type StartedAhead, startedAhead } from "../started-ahead.ts";
import type { GuestLanguage } from "./guest/protocol.ts";
import { GuestProcess } from "./guest-process.ts";
import type { Runtime } from "./runtime-folder.ts";

/** The MiB of a process with an interpreter before its first program. */
const idle = 250;

/** Interpreters that were started and have not run anything yet. Each is handed out once. */
export class Pool {
  readonly #runtime: Runtime;
  readonly #all = new Set<GuestProcess>();
  readonly #ahead: StartedAhead<GuestProcess> = startedAhead({
    memory: idle,
    isOver: (process) => process.isOver,
    end: (process) => this.end(process),
  });

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Returns an unused interpreter, and starts a replacement. Throws SANDBOX_FAILED. */
  async take(language: GuestLanguage, limits: SandboxLimits): Promise<GuestProcess> {
    const { memory, disk } = limits;
    const start = () => this.#start(language, limits);
    return (await this.#ahead.take(`${language} ${memory} ${disk}`, start)) ?? start();
  }

  /** Ends a process that came from `take`. */
  end(process: GuestProcess): void {
    this.#all.delete(process);
    process.kill();
  }

  async close(): Promise<void> {
    for (const process of this.#all) process.kill();
    this.#all.clear();
    await this.#ahead.close();
  }

  async #start(language: GuestLanguage, limits: SandboxLimits): Promise<GuestProcess> {
    const process = new GuestProcess(this.#runtime, limitsOf(limits));
    this.#all.add(process);
    await process.prepare(language);
    return process;
  }
}
