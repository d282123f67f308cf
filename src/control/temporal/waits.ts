import { duration } from "../../base/text/format.ts";
import { activityRoles } from "../../contracts/activity-roles.ts";
import type { Role } from "../../run/folder/queues.ts";

/** What workflows wait for: those that wait for the same and for the same reason are one. */
export interface Wait {
  /** The activity's type, or "workflow task". */
  what: string;
  role: Role;
  /** One of the workflows, and how many there are. */
  workflow: string;
  count: number;
  /** There may be more than were counted. */
  isSample?: boolean;
  /** The longest since when, ms since 1970. */
  since: number;
  /** The highest attempt. */
  attempt: number;
  /** Nobody has taken the attempt. */
  isUnclaimed: boolean;
  /** Why the attempt before failed, or what this one says that it waits for. */
  reason?: string;
}

/** What fails, or is taken by nobody; else it just takes its time. */
export function isTrouble({ attempt, isUnclaimed }: Wait): boolean {
  return attempt > 1 || isUnclaimed;
}

/** The role of an activity; those that are none of Everturn's own are tools. */
export function roleOfActivity(type: string): Role {
  const known: Partial<Record<string, Role>> = activityRoles;
  return known[type] ?? "tools";
}

/** `waits` with those that are alike as one, the longest first. */
export function grouped(waits: readonly Wait[]): Wait[] {
  const groups = new Map<string, Wait>();
  for (const wait of [...waits].sort((a, b) => a.since - b.since)) {
    const key = [wait.what, isTrouble(wait), wait.isUnclaimed, alike(wait.reason ?? "")].join("\n");
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

/** A reason without what makes each one different: numbers, ports, ids. */
export function alike(reason: string): string {
  return reason.replace(/[0-9a-f-]*\d[0-9a-f-]*/gi, "#");
}

const reasonLength = 200;

/** An error's message as far as it says what happened: its first sentence, on one line. */
export function shortReason(message: string): string {
  const [first = ""] = message
    .replace(/\s+/g, " ")
    .trim()
    .split(/\. (?=[A-Z`])/);
  return first.length > reasonLength ? `${first.slice(0, reasonLength)}…` : first.replace(/\.$/, "");
}

/** One line for what is waited for. */
export function waitLine(wait: Wait, now: number): string {
  const { what, role, workflow, count, isSample, since, attempt, isUnclaimed, reason } = wait;
  const others = count > 1 ? ` and ${isSample ? "at least " : ""}${count - 1} more` : "";
  const seconds = Math.round((now - since) / 1000);
  const time = seconds < 60 ? `${seconds} s` : duration(seconds);
  const state = isUnclaimed
    ? `no ${role} worker has taken ${attempt > 1 ? `attempt ${attempt}` : "it"} for ${time}`
    : attempt > 1
      ? `attempt ${attempt} after ${time}`
      : `running for ${time}`;
  return `waiting for ${what} (${role}) of ${workflow}${others}: ${state}${reason === undefined ? "" : `; ${reason}`}`;
}
