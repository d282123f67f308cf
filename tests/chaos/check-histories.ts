import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreFindings } from "./check-store.ts";

/** What Temporal's histories of a run say, held against its store. */
export interface HistoryFindings {
  lostTrajectories: string[];
  lostTurns: string[];
  trainedTwice: string[];
  workflows: number;
}

interface Exported {
  workflowId: string;
  type: string;
  status: string;
  history: { events: HistoryEvent[] };
}

interface Payloads {
  payloads?: { data?: string }[];
}

interface HistoryEvent {
  eventId: string;
  activityTaskScheduledEventAttributes?: { activityType?: { name?: string }; input?: Payloads };
  activityTaskCompletedEventAttributes?: { scheduledEventId?: string; result?: Payloads };
}

/**
 * Reads exported histories: every trajectory that was started has ended and has a record; every turn that the server
 * knows as generated has its segments; no trajectory is in the batches of two steps.
 */
export function readHistories(
  folder: string,
  { records, segments }: Pick<StoreFindings, "records" | "segments">,
): HistoryFindings {
  const findings: HistoryFindings = { lostTrajectories: [], lostTurns: [], trainedTwice: [], workflows: 0 };
  const steps = new Map<string, Set<number>>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const { workflowId, type, status, history }: Exported = JSON.parse(
      readFileSync(join(folder, name), "utf8"),
    );
    findings.workflows++;
    if (type === "trajectory") {
      if (status === "RUNNING") findings.lostTrajectories.push(`${workflowId} never ended`);
      else if (!records.has(workflowId))
        findings.lostTrajectories.push(`${workflowId} ended as ${status}, without a record`);
    }
    const scheduled = new Map(
      history.events.map((event) => [event.eventId, event.activityTaskScheduledEventAttributes]),
    );
    for (const event of history.events) {
      const batch = batchOf(event);
      for (const id of batch?.trajectories ?? [])
        steps.set(id, (steps.get(id) ?? new Set()).add(batch?.step ?? 0));
      const completed = event.activityTaskCompletedEventAttributes;
      if (completed === undefined || completed === null) continue;
      if (scheduled.get(completed.scheduledEventId ?? "")?.activityType?.name !== "generate-turn") continue;
      const { head } = decoded(completed.result);
      if (!segments.has(head))
        findings.lostTurns.push(`${workflowId}: a finished turn's segment ${head} is missing`);
    }
  }
  for (const [id, trained] of steps) {
    if (trained.size > 1)
      findings.trainedTwice.push(`${id} was given to the steps ${[...trained].join(", ")}`);
  }
  return findings;
}

function batchOf({ activityTaskScheduledEventAttributes: scheduled }: HistoryEvent) {
  if (scheduled?.activityType?.name !== "train-step") return undefined;
  const { step, batch } = decoded(scheduled.input);
  return {
    step: Number(step),
    trajectories: batch.map((member: { trajectory: string }) => member.trajectory) as string[],
  };
}

/** The JSON in the first payload. */
function decoded(payloads: Payloads | undefined) {
  return JSON.parse(Buffer.from(payloads?.payloads?.[0]?.data ?? "", "base64").toString("utf8") || "{}");
}
