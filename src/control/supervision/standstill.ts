import { setTimeout as sleep } from "node:timers/promises";
import { type Client, isGrpcServiceError, ServiceError } from "@temporalio/client";
import { withOwnSignal } from "../../base/async/abort-signals.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { buildAnew } from "../../contracts/run.ts";
import type { Role } from "../../run/folder/queues.ts";
import { idleWorkflows } from "../temporal/idle-workflows.ts";
import { waitingCount } from "../temporal/live-trajectories.ts";
import { pendingWork } from "../temporal/pending-work.ts";
import type { ServerLimits } from "../temporal/server-limits.ts";
import { grouped, type Wait } from "../temporal/waits.ts";
import { patience, waitNotes } from "./wait-notes.ts";

/** Ms between two looks while nothing moves, and while something does. */
const intervals = { still: 2000, moving: 12_000 };

/** How often it checks whether to look, in ms. */
const tick = 200;

/** Workflows are examined once they have been in progress for this long, in ms. */
const age = 2000;

/** How long a look may take, in ms. */
const deadline = 5000;

/** How long a worker's report about its local activities is valid, in ms. */
const freshness = 6000;

/** How long nothing may be in progress before the run's workflows are rebuilt, in ms. */
const idleTime = 60_000;

/** Reports what a run waits for. */
export interface Standstill {
  /** Receives a worker's waiting local activities. */
  hear(role: Role, waits: Wait[]): void;
  /** Lines about the current waits. */
  lines(): string[];
  /** Stops, and resolves once it has ended. */
  stop(): Promise<void>;
}

/**
 * Checks every few seconds what the workflows of a run wait for, and reports waits to `note`: after seven seconds
 * without movement, when the reason changes, when a wait has become ten times as long, and when it is over.
 * `progress` counts finished work. A run with nothing in progress and nothing awaited is stuck: it reports this
 * every minute, and has the workflows rebuilt from their histories (decision 0107).
 */
export function watchStandstill(options: {
  client: Client;
  run: string;
  /** The run as commands take it, for hints. Default: its id. */
  named?: string;
  queue: string;
  progress: () => number;
  isServerUp: () => boolean;
  limits?: ServerLimits;
  note: (text: string) => void;
  /** Ends it. */
  closing: AbortSignal;
}): Standstill {
  const { client, run, queue, progress, isServerUp, limits, note, closing: signal } = options;
  const notes = waitNotes();
  const local = new Map<Role, { at: number; waits: Wait[] }>();
  /** When each activity at the server was first seen, because the server only reports its newest attempt. */
  let known = new Map<string, number>();
  let lines: string[] = [];
  let isTroubled = false;
  /** When the next wait will have lasted long enough to be reported. */
  let nextAt = Number.POSITIVE_INFINITY;
  let reached = progress();
  let movedAt = Date.now();
  let hasFailed = false;
  /** Since when nothing has been in progress or awaited, or when the workflows were last rebuilt. */
  let idleSince: number | undefined;
  let hasToldPersons = false;

  const stillMs = () => Date.now() - movedAt;

  async function atServer(): Promise<Wait[]> {
    const pending = await client.withDeadline(Date.now() + deadline, () =>
      pendingWork(client, { run, queue, age }),
    );
    const dated = pending.map((wait) => ({
      ...wait,
      since: Math.min(wait.since, known.get(wait.id) ?? wait.since),
    }));
    known = new Map(dated.map(({ id, since }) => [id, since]));
    return dated;
  }

  async function look(): Promise<void> {
    if (!isServerUp()) {
      lines = ["waiting for the Temporal server, which does not respond"];
      return;
    }
    const limit = limits?.line();
    if (limit !== undefined) {
      lines = [limit];
      return;
    }
    for (const [role, { at }] of local) if (Date.now() - at > freshness) local.delete(role);
    const fromWorkers = [...local.values()].flatMap((worker) => worker.waits);
    const waits = grouped([...(await atServer()), ...fromWorkers]);
    const named = waits.map((wait) => ({ ...wait, workflow: nameIn(run, wait.workflow) }));
    const said = notes.see(named, stillMs() >= patience.slow, Date.now());
    ({ lines, isTroubled, nextAt } = said);
    if (!signal.aborted) for (const text of said.notes) note(text);
    if (waits.length > 0 || stillMs() < patience.slow) {
      idleSince = undefined;
      hasToldPersons = false;
    } else if (!(await waitsForPersons())) await endStandstill();
  }

  /** Whether nothing moves because trajectories wait for people. */
  async function waitsForPersons(): Promise<boolean> {
    const count = await client.withDeadline(Date.now() + deadline, () => waitingCount(client, run));
    if (count === 0) return false;
    const trajectories = count === 1 ? "1 trajectory waits" : `${count} trajectories wait`;
    lines = [
      `${trajectories} for a person to approve, to answer or to resume: npx everturn approvals ${options.named ?? run}`,
    ];
    if (!hasToldPersons && !signal.aborted) note(lines[0] ?? "");
    hasToldPersons = true;
    return true;
  }

  async function endStandstill(): Promise<void> {
    const idle = await client.withDeadline(Date.now() + deadline, () =>
      idleWorkflows(client, { run, queue }),
    );
    if (idle.length === 0) idleSince = undefined;
    else idleSince ??= Date.now();
    if (idleSince === undefined || Date.now() - idleSince < idleTime || signal.aborted) return;
    const names = idle.map(({ workflowId }) => nameIn(run, workflowId)).join(", ");
    note(`nothing is under way and nothing is awaited: rebuilding ${names} from the history`);
    idleSince = Date.now();
    for (const { workflowId, runId } of idle)
      await client.workflow.getHandle(workflowId, runId).signal(buildAnew);
  }

  /** A server's absence is reported by its own watch. */
  function tellFailure(error: unknown): void {
    if (signal.aborted || error instanceof ServiceError || isGrpcServiceError(error)) return;
    if (!hasFailed) note(`can't find out what the run is waiting for: ${messageOf(error)}`);
    hasFailed = true;
  }

  async function watch(): Promise<void> {
    let lookedAt = Date.now();
    while (!signal.aborted) {
      await sleep(tick, undefined, { signal }).catch(() => {}); // ended by the signal
      if (progress() !== reached) {
        reached = progress();
        movedAt = Date.now();
      }
      const hasWaits = lines.length > 0 || isTroubled || local.size > 0;
      const interval = hasWaits || stillMs() >= intervals.still ? intervals.still : intervals.moving;
      const now = Date.now();
      const isDue = [nextAt, movedAt + patience.slow].some((due) => lookedAt < due && due <= now);
      if (signal.aborted || (now - lookedAt < interval && !isDue)) continue;
      lookedAt = now;
      await withOwnSignal(signal, (own) => client.withAbortSignal(own, look)).catch(tellFailure);
    }
  }

  const watching = watch();
  return {
    hear: (role, waits) => {
      if (waits.length === 0) local.delete(role);
      else local.set(role, { at: Date.now(), waits });
    },
    lines: () => lines,
    stop: () => watching,
  };
}

/** A workflow's name within its run. */
function nameIn(run: string, workflow: string): string {
  return workflow.startsWith(`${run}/`) ? workflow.slice(run.length + 1) : workflow;
}
