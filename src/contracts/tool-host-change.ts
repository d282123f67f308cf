/** A change in a tool host's state. `down` means that it has been paused for longer than any caller waits. */
export interface ToolHostChange {
  host: string;
  state: "paused" | "resumed" | "down";
  /** The last failure, or "" when it resumed. */
  reason: string;
  /** How long it had been paused, in seconds. */
  seconds: number;
}

/** A line of `hosts.jsonl`. */
export interface ToolHostLine extends ToolHostChange {
  /** When it changed, in ISO 8601. */
  at: string;
}
