import { requireMarkToWrite } from "../../base/files/marked-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import type { Notice } from "../../base/processes/notice.ts";
import type { Queues } from "../../contracts/trajectory.ts";
import { type Role, rolesToStart } from "../../run/folder/queues.ts";
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
  /** Counts what the run gets done. */
  progress: () => number;
  /** Told when a worker has finished activities. */
  onProgress: () => void;
  note: (text: string) => void;
  /** Told what a worker says to the user. */
  onNotice: (notice: Notice) => void;
  /** Told what the local activities of a worker wait for. */
  onWaits: (role: Role, waits: Wait[]) => void;
  isServerUp: () => boolean;
  /** A worker is started when the server answers: without it, it would only end. */
  untilServerAnswers: () => Promise<void>;
  stopping: AbortSignal | undefined;
}

/** Starts a worker process for each queue, and starts it again when it ends. Throws what a first start throws. */
export async function superviseWorkers(queues: Queues, options: Options): Promise<Omit<Supervised, "isUp">> {
  const starting = rolesToStart(queues).map((role) => superviseWorker(role, options));
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
      await patiently(async () => requireMarkToWrite(runFolder(runs, run).root)); // without it, too
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
