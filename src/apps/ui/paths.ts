/** The address of a run's page, or of one below it. */
export function runPath(run: string, ...below: string[]): string {
  return `/${["runs", run, ...below].map(encodeURIComponent).join("/")}`;
}

/** The address of the page of a trajectory with the id run/stage/task/sample, or of one below it. */
export function trajectoryPath(id: string, ...below: string[]): string {
  const [run = "", ...place] = id.split("/");
  return runPath(run, "trajectories", ...place, ...below);
}

/** An address with a query, without undefined and empty values. */
export function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") asked.set(name, String(value));
  }
  return asked.size === 0 ? path : `${path}?${asked}`;
}
