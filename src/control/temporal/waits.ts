import { duration } from "../../base/text/format.ts";
import { activityRoles } from "../../contracts/activity-roles.ts";
import type { Role } from "../../run/folder/queues.ts";

/** A wait of workflows. Workflows that wait for the same thing for the same reason are combined. */
export interface Wait {
  /** The activity's type, or "workflow task". */
  what: string;
  role: Role;
  /** One of the workflows, and their number. */
  workflow: string;
  count: number;
  /** There may be more than were counted. */
  isSample?: boolean;
  /** When the longest wait began, in ms since 1970. */
  since: number;
  /** The highest attempt. */
  attempt: number;
  /** Whether nobody has taken the attempt. */
  isUnclaimed: boolean;
  /** Whether a person paused the activity in Temporal. */
  isPaused?: boolean;
  /** Why the previous attempt failed, or this one's reason to wait. */
  reason?: string;
}

/** Whether a wait is due to a failure, a pause or an unclaimed attempt. Otherwise the work just takes time. */
export function isTrouble({ attempt, isUnclaimed, isPaused = false }: Wait): boolean {
  return attempt > 1 || isUnclaimed || isPaused;
}

/** The role of an activity. Activities that are not Everturn's own are tools. */
export function roleOfActivity(type: string): Role {
  const known: Partial<Record<string, Role>> = activityRoles;
  return known[type] ?? "tools";
}

/** Combines similar waits, the longest first. */
export function grouped(waits: readonly Wait[]): Wait[] {
  const groups = new Map<string, Wait>();
  for (const wait of [...waits].sort((a, b) => a.since - b.since)) {
    const key = [wait.what, isTrouble(wait), wait.isUnclaimed, wait.isPaused, alike(wait.reason ?? "")].join(
      "\n",
    );
    const first = groups.get(key);
    if (first === undefined) groups.set(key, { ...wait });
    else {
      first.count += wait.count;
      if (wait.isSample) first.isSample = true;
      first.attempt = Math.max(first.attempt, wait.attempt);
    }
  }
  return [...groups.values()];
}

/** A reason without the parts that make each one different: numbers, ports, ids. */
export function alike(reason: string): string {
  return reason.replace(/[0-9a-f-]*\d[0-9a-f-]*/gi, "#");
}

/** The longest reason in a line, so that a page of HTML does not fill the screen. The worker's log has all of it. */
const reasonLength = 2_000;

/** The first sentence of an error's message, on one line. */
export function shortReason(message: string): string {
  const [first = ""] = message
    .replace(/\s+/g, " ")
    .trim()
    .split(/\. (?=[A-Z`])/);
  return first.length > reasonLength ? `${first.slice(0, reasonLength)}…` : first.replace(/\.$/, "");
}

/** A line about a wait. */
export function waitLine(wait: Wait, now: number): string {
  const { what, role, workflow, count, isSample, since, reason } = wait;
  const others = count > 1 ? ` and ${isSample ? "at least " : ""}${count - 1} more` : "";
  const seconds = Math.round((now - since) / 1000);
  const time = seconds < 60 ? `${seconds} s` : duration(seconds);
  return `waiting for ${what} (${role}) of ${workflow}${others}: ${stateOf(wait, time)}${reason === undefined ? "" : `; ${reason}`}`;
}

function stateOf({ role, attempt, isUnclaimed, isPaused = false }: Wait, time: string): string {
  if (isPaused) return `paused for ${time}`;
  if (isUnclaimed)
    return `no ${role} worker has taken ${attempt > 1 ? `attempt ${attempt}` : "it"} for ${time}`;
  return attempt > 1 ? `attempt ${attempt} after ${time}` : `running for ${time}`;
}
