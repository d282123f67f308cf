/** Metrics that Everturn measures itself, by the names that records have. */
const own = new Map([
  ["cutActions", { title: "Cut actions", meaning: "Actions that a limit of tokens cut." }],
  ["cutObservations", { title: "Cut observations", meaning: "Observations that a limit cut." }],
]);

/** A metric's title: the name that a reward or a tool gave it, unless Everturn measured it. */
export function metricTitle(name: string): string {
  return own.get(name)?.title ?? name;
}

/** What a metric of a trajectory means, as far as Everturn knows. */
export function metricMeaning(name: string): string {
  return own.get(name)?.meaning ?? "Measured by a reward or a tool.";
}
