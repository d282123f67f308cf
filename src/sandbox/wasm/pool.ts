import { availableParallelism, freemem } from "node:os";
import { limitsOf } from "../limits.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { GuestLanguage } from "./guest/protocol.ts";
import { GuestProcess } from "./guest-process.ts";
import type { Runtime } from "./runtime-folder.ts";

/** MiB that a process with an interpreter takes before its first program. */
const idle = 250;

/** How many interpreters are kept ready: one a core, as long as they take a tenth of the memory that is free. */
function mostReady(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor((0.1 * freemem()) / 2 ** 20 / idle)));
}

/** Interpreters that have been started and have run nothing yet. Each is handed out once. */
export class Pool {
  readonly #runtime: Runtime;
  readonly #limits: SandboxLimits;
  readonly #ready = new Map<GuestLanguage, Promise<GuestProcess>[]>();
  readonly #all = new Set<GuestProcess>();
  #isClosed = false;

  /** `limits` are those that most sessions have: for others nothing is ready. */
  constructor(runtime: Runtime, limits: SandboxLimits) {
    this.#runtime = runtime;
    this.#limits = limits;
  }

  /** An interpreter that nobody has used, and starts another one in its place. Throws SANDBOX_FAILED. */
  async take(language: GuestLanguage, limits: SandboxLimits): Promise<GuestProcess> {
    const isUsual = limits.memory === this.#limits.memory && limits.disk === this.#limits.disk;
    const taken = (isUsual ? await this.#takeReady(language) : undefined) ?? this.#start(language, limits);
    return taken;
  }

  /** Ends a process that `take` gave. */
  end(process: GuestProcess): void {
    this.#all.delete(process);
    process.kill();
  }

  close(): void {
    this.#isClosed = true;
    for (const process of this.#all) process.kill();
    this.#all.clear();
    this.#ready.clear();
  }

  async #takeReady(language: GuestLanguage): Promise<GuestProcess | undefined> {
    const ready = this.#ready.get(language) ?? [];
    this.#ready.set(language, ready);
    const next = ready.shift();
    const taken = await next?.catch(() => undefined); // the one started in its place says why
    this.#fill(language, ready);
    return taken === undefined || taken.isOver ? undefined : taken;
  }

  #fill(language: GuestLanguage, ready: Promise<GuestProcess>[]): void {
    if (this.#isClosed || ready.length >= mostReady()) return;
    const started = this.#start(language, this.#limits);
    started.catch(() => {}); // told to the one who takes it
    ready.push(started);
  }

  async #start(language: GuestLanguage, limits: SandboxLimits): Promise<GuestProcess> {
    const process = new GuestProcess(this.#runtime, limitsOf(limits));
    this.#all.add(process);
    await process.prepare(language);
    return process;
  }
}
