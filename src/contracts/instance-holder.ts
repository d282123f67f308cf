/** A worker that took the instance of a tool for a trajectory: a record of the run's store, for good. */
export interface InstanceHolder {
  /** Tells this taking apart from all others; the processes of the instance carry it. */
  mark: string;
  /** Tells workers apart, also those of one process. */
  worker: string;
  /** Where the worker is asked for what it holds. */
  queue: string;
  /** Its process, and on which machine that is. */
  owner: { pid: number; started: string; machine: string };
  /** When, ISO 8601. */
  at: string;
}
