import { once } from "node:events";
import { delimiter } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { processLog } from "../../base/processes/process-log.ts";
import { type Part, supervise } from "../supervision/supervise.ts";
import { freePort } from "../temporal/free-port.ts";
import { isAnswering } from "./is-answering.ts";
import type { KeeperLine } from "./keeper-socket.ts";
import { keptProcess } from "./kept-process.ts";
import { pythonPrograms } from "./python-environment.ts";
import type { ServerStart } from "./server-start.ts";

interface Options {
  key: string;
  log: string;
  stopping: AbortSignal;
  tell(line: KeeperLine): void;
}

/** Milliseconds between two questions whether a server works, and without any answer before it is ended. */
const [interval, silence] = [10_000, 120_000];

/** Keeps a server until `stopping` aborts. Throws SERVER_… if it does not start, or ends again and again. */
export async function keepServer(start: ServerStart, options: Options): Promise<void> {
  const { stopping, tell, log } = options;
  const command = start.command.join(" ");
  const programs = await pythonPrograms(start, options);
  if (stopping.aborted) return;
  let answers = 0;
  let port = 0;
  const supervised = await supervise({
    start: async (ending) => {
      port = await freePort(port); // the same one after a restart, if possible
      return startServer(start, { ...options, stopping: ending, programs, port, onAnswer: () => answers++ });
    },
    progress: () => answers,
    stopping,
    onEnd: () => tell({ state: "starting" }),
    giveUp: ({ reason, lines }, times) =>
      new EverturnError("SERVER_ENDED", { command, reason, lines, times, log }),
  });
  const isStopped = once(stopping, "abort");
  if (!stopping.aborted) await Promise.race([supervised.failed, isStopped]);
  await supervised.stop();
}

/** Starts a server, and waits until it answers. */
async function startServer(
  { command, environment, folder, patience, ready }: ServerStart,
  {
    key,
    log,
    stopping,
    programs,
    port,
    tell,
    onAnswer,
  }: Options & { programs: string | undefined; port: number; onAnswer: () => void },
): Promise<Part> {
  const place = (word: string) => word.replaceAll("{port}", String(port));
  const variables = Object.entries(environment).map(([name, word]) => [name, place(word)] as const);
  const output = processLog(log);
  const { ended, stop } = keptProcess(command.map(place), {
    key,
    folder,
    log,
    environment: {
      PATH: [programs, process.env.PATH].filter(Boolean).join(delimiter),
      ...Object.fromEntries(variables),
    },
  });
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const fail = async (reason: string) => {
    await stop();
    const lines = output.tail();
    return new EverturnError("SERVER_NOT_STARTED", {
      command: command.join(" "),
      folder,
      reason,
      lines,
      log,
    });
  };
  for (const end = performance.now() + patience * 1000; !(await isAnswering(port, ready)); await sleep(200)) {
    if (hasEnded) throw await fail(`it ended (${(await ended).reason})`);
    if (stopping.aborted) throw await fail("nobody needs it any more");
    if (performance.now() > end)
      throw await fail(`it did not answer ${ready ?? `port ${port}`} within ${patience} s`);
  }
  tell({ state: "ready", port });
  const watching = watch();
  return { ended, stop: () => stop().then(() => watching) };

  /** Ends the server if it answers nothing for a long time. */
  async function watch(): Promise<void> {
    let answered = performance.now();
    while (!hasEnded) {
      await Promise.race([ended, sleep(interval, undefined, { ref: false })]);
      if (hasEnded) return;
      if (await isAnswering(port, ready)) {
        answered = performance.now();
        onAnswer();
      } else if (performance.now() - answered > silence) return void stop();
    }
  }
}
