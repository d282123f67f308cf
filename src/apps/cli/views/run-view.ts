import type { RunEvent } from "../../../control/operations/events.ts";
import type { RunSummary } from "./progress-text.ts";

/** The output of a view: a process's stream. A terminal gets the live view, anything else plain lines. */
export type ViewStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** Shows a run to a person while it works. */
export interface RunView {
  /** Shows an event. Notes stay, and waits are shown as long as they last. */
  tell(event: RunEvent): void;
  /** Shows the summary and ends the view. */
  end(summary: RunSummary): void;
  /** Ends the view and restores the terminal, however the run ended. Does nothing the second time. */
  close(): void;
}
