import { prelude, pythonParts } from "./parts.ts";
import type { FromGuest, FromInterpreter, GuestLanguage, GuestRan, Load, Run, Start } from "./protocol.ts";

/** Milliseconds that a program has to end by itself after an interrupt. */
const grace = 1500;
/**
 * Milliseconds between two checks of memory, and the MiB that the process may have beyond a program's limit.
 */
const look = 100;
const besides = 450;
const mebibyte = 2 ** 20;

/** An interpreter in its own thread, and the limits on a program in it. */
export class Interpreter {
  /** Resolves when it can run programs, or with the reason why it never can. */
  readonly ready: Promise<string | undefined>;
  readonly #worker: Worker;
  readonly #interrupt = new SharedArrayBuffer(1);
  readonly #tell: (message: FromGuest) => void;
  readonly #mostMemory: number;
  #heard: (message: FromInterpreter) => void = () => {};

  constructor(language: GuestLanguage, start: Start, tell: (message: FromGuest) => void) {
    this.#tell = tell;
    this.#mostMemory = (start.memory + start.disk + besides) * mebibyte;
    this.#worker = new Worker(new URL(`./${language}.${suffix}`, import.meta.url), { type: "module" });
    const { disk, memory } = start;
    const load: Load = { disk, memory, interrupt: this.#interrupt };
    if (language === "python") load.python = pythonParts(memory);
    else load.prelude = prelude();
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.ready = promise;
    this.#heard = (message) => resolve(message.type === "unusable" ? message.reason : undefined);
    this.#worker.onmessage = ({ data }) => this.#heard(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#heard({ type: "unusable", reason: event.message });
    };
    this.#worker.postMessage({ type: "load", load });
  }

  /** Runs a program to its end or to its limit. Ends an interpreter that did not come back. */
  async run({ type: _, language: __, ...run }: Run): Promise<GuestRan> {
    await this.ready;
    const began = performance.now();
    const { promise, resolve } = Promise.withResolvers<Omit<GuestRan, "seconds">>();
    let limit: "time-limit" | "output-limit" | undefined;
    let last: ReturnType<typeof setTimeout> | undefined;
    const end = (outcome: GuestRan["outcome"]) =>
      resolve({ type: "ran", outcome, put: {}, removed: [], lost: true });
    const stop = (which: typeof limit & string) => {
      if (limit !== undefined) return;
      limit = which;
      new Uint8Array(this.#interrupt)[0] = 2;
      last = setTimeout(() => end(which), grace);
    };
    this.#heard = (message) => {
      if (message.type === "output") this.#tell(message);
      else if (message.type === "flooded") stop("output-limit");
      else if (message.type === "begun") timer = setTimeout(() => stop("time-limit"), run.time * 1000);
      else if (message.type === "over") isOver();
      else if (message.type === "ran") resolve(message);
      else end("ended");
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isOver = () => {
      clearTimeout(timer);
      clearTimeout(last);
    };
    const watch = setInterval(() => Deno.memoryUsage().rss > this.#mostMemory && end("memory-limit"), look);
    this.#worker.postMessage({ type: "run", run });
    const ran = await promise;
    isOver();
    clearInterval(watch);
    new Uint8Array(this.#interrupt)[0] = 0;
    if (ran.lost) this.#worker.terminate();
    this.#heard = () => {};
    return { ...ran, outcome: limit ?? ran.outcome, seconds: (performance.now() - began) / 1000 };
  }
}

/** The suffix of this file. Published files are JavaScript. */
const suffix = import.meta.url.endsWith(".ts") ? "ts" : "js";
