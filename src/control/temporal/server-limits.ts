/** Reports that a server limits the rate of calls. */
export interface ServerLimits {
  /** Receives the server's explanation each time it rejects a call for that reason. The call is retried. */
  hear(details: string): void;
  /** A line while it does. */
  line(): string | undefined;
}

/** How long after the last rejected call the limit counts as reached, and how often it is reported, in ms. */
const lasting = 10_000;
const betweenNotes = 60_000;

/** Reports to `note` that the server limits the calls in a namespace, at most once a minute. */
export function serverLimits(namespace: string, note: (text: string) => void): ServerLimits {
  let heardAt = Number.NEGATIVE_INFINITY;
  let toldAt = Number.NEGATIVE_INFINITY;
  let line = "";
  return {
    hear: (details) => {
      heardAt = performance.now();
      line = `waiting for the Temporal server, which limits the calls in the namespace ${namespace}: ${details}`;
      if (heardAt - toldAt < betweenNotes) return;
      toldAt = heardAt;
      note(line);
    },
    line: () => (performance.now() - heardAt < lasting ? line : undefined),
  };
}
