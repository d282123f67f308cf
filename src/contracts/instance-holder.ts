/** A worker that took the instance of a tool for a trajectory. The run's store keeps this record permanently. */
export interface InstanceHolder {
  /** Identifies this instance. The processes of the instance carry it. */
  mark: string;
  /** Identifies the worker, also among those of one process. */
  worker: string;
  /** The worker's own queue, which takes calls for its instances. */
  queue: string;
  /** The worker's process and its machine. */
  owner: { pid: number; started: string; machine: string };
  /** When the worker took it, ISO 8601. */
  at: string;
}
