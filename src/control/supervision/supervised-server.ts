import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import type { ProcessIdentity } from "../../base/processes/process-identity.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { type DevServer, portTaken } from "../temporal/dev-server.ts";
import { startOwnServer } from "../temporal/own-server.ts";
import type { HeldRun } from "./claim-run.ts";
import { type Supervised, supervise } from "./supervise.ts";

/** A run's own dev server, which keeps its address across restarts. */
export interface SupervisedServer extends Supervised {
  /** host:port of its gRPC frontend. */
  address: string;
  /** URL of its web UI. */
  ui: string;
}

/** Starts a run's own server, and restarts it on the same ports and database when it ends. */
export async function superviseServer(options: {
  run: string;
  folder: RunFolder;
  /** The run that this process holds, which records the server's address. */
  held: HeldRun;
  temporal: string | undefined;
  /** Counts the run's finished work. */
  progress: () => number;
  note: (text: string) => void;
  stopping: AbortSignal | undefined;
}): Promise<SupervisedServer> {
  const { run, folder, held, temporal, progress, note, stopping } = options;
  let server: DevServer | undefined;

  async function start(giveUp: AbortSignal): Promise<DevServer> {
    const before = server;
    const onSpawn = (spawned: ProcessIdentity) => held.tell({ server: spawned });
    server = await startOwnServer(folder, temporal, { before, stopping: giveUp, onSpawn });
    const { address, ui, cluster } = server;
    await held.tell({ address, ui, cluster });
    return server;
  }

  const supervised = await supervise({
    start,
    progress,
    stopping,
    onEnd: ({ reason }, times) =>
      note(`the Temporal server exited (${reason}); restarting it${again(times)}`),
    giveUp: ({ reason, lines }, times) =>
      new EverturnError("TEMPORAL_SERVER_ENDED", {
        run,
        reason,
        lines,
        log: folder.log("temporal"),
        times: withoutProgress(times),
      }),
  });
  return { ...supervised, address: server?.address ?? "", ui: server?.ui ?? "" };
}

/**
 * Whether the run's own server was given up because another program has its port. Supervising the run again starts it on
 * another port.
 */
export function hasLostItsPort(error: unknown): boolean {
  if (!isEverturnError(error)) return false;
  if (error.code === "TEMPORAL_OTHER_SERVER" || error.code === "PORT_UNUSABLE") return true;
  return error.code === "TEMPORAL_SERVER_ENDED" && String(error.params.reason).includes(portTaken);
}

/** How often a process has ended, as the end of a note. */
export function again(times: number): string {
  return times === 1 ? "" : ` (end ${times} in a row without progress)`;
}

/** How often a process ended before it was given up, in words. */
export function withoutProgress(times: number): string {
  return `${times} times in a row, without progress of the run between them`;
}
