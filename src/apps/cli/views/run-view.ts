import type { RunEvent } from "../../../control/operations/events.ts";
import type { RunSummary } from "./progress-text.ts";

/** Where a view writes: a process's stream. A terminal gets the live view, anything else plain lines. */
export type ViewStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** Shows a run to a person while it works. */
export interface RunView {
  /** Shows what happens: notes stay, waits are shown as long as they last. */
  tell(event: RunEvent): void;
  /** The summary; the view ends. */
  end(summary: RunSummary): void;
  /** Ends the view and gives the terminal back, however the run ended. Does nothing the second time. */
  close(): void;
}
