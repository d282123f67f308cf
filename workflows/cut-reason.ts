/** Adds to a reason that a trajectory's summary cut where all of it is. */
export function withSource(reason: string, trajectory: string): string {
  return reason.endsWith("…") ? `${reason} (\`npx everturn show ${trajectory}\` prints all of it)` : reason;
}
