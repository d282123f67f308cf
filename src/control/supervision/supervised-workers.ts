import { requireMarkToWrite } from "../../base/files/marked-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import type { Notice } from "../../base/processes/notice.ts";
import type { Role } from "../../run/folder/queues.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import type { Wait } from "../temporal/waits.ts";
import { type Supervised, supervise } from "./supervise.ts";
import { again, withoutProgress } from "./supervised-server.ts";
import { startWorkerProcess, workerEnded } from "./worker-process.ts";

interface Options {
  runs: string;
  run: string;
  address: string;
  queuePrefix: string;
  /** Counts the run's finished work. */
  progress: () => number;
  /** Called when a worker has finished activities. */
  onProgress: () => void;
  note: (text: string) => void;
  /** Receives a worker's notices to the user. */
  onNotice: (notice: Notice) => void;
  /** Receives the waiting local activities of a worker. */
  onWaits: (role: Role, waits: Wait[]) => void;
  isServerUp: () => boolean;
  /** Waits until the server answers, because a worker would end without it. */
  untilServerAnswers: () => Promise<void>;
  stopping: AbortSignal | undefined;
}

/** Starts a worker process for each role, and restarts it when it ends. Throws the error of a first start. */
export async function superviseWorkers(
  roles: readonly Role[],
  options: Options,
): Promise<Omit<Supervised, "isUp">> {
  const starting = roles.map((role) => superviseWorker(role, options));
  const settled = await Promise.allSettled(starting);
  const workers = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const stop = async () => void (await Promise.all(workers.map((worker) => worker.stop())));
  const failure = settled.find((result) => result.status === "rejected");
  if (failure !== undefined) {
    await stop();
    throw failure.reason;
  }
  return { failed: Promise.race(workers.map((worker) => worker.failed)), stop };
}

function superviseWorker(role: Role, options: Options): Promise<Supervised> {
  const { runs, run, progress, onProgress, onNotice, note, isServerUp, untilServerAnswers } = options;
  const onWaits = (waits: Wait[]) => options.onWaits(role, waits);
  return supervise({
    progress,
    stopping: options.stopping,
    start: async (stopping) => {
      await patiently(async () => requireMarkToWrite(runFolder(runs, run).root)); // a worker can't do without it either
      await untilServerAnswers();
      const worker = await startWorkerProcess(role, options, { onProgress, onNotice, onWaits, stopping });
      return { ended: worker.ended, stop: () => worker.stop(isServerUp) };
    },
    onEnd: ({ reason, outOfMemory }, times) => {
      const help = outOfMemory ? "; see WORKER_OUT_OF_MEMORY in docs/errors.md" : "";
      note(`the ${role} worker exited (${reason}); restarting it${again(times)}${help}`);
    },
    giveUp: (ending, times) => {
      const log = runFolder(runs, run).log(role);
      return workerEnded({ role, run, log, ending, times: withoutProgress(times) });
    },
  });
}
