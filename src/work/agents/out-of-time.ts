/** Runnable processes per core from which a machine counts as overloaded. */
const overloaded = 2;

interface Circumstances {
  /** The time limit in seconds. */
  limit: number;
  /** Seconds that the agent waited for the policy's actions. */
  waited: number;
  /** The machine's runnable processes per core. */
  load: number;
  /** The agent's output, as the end of a reason. */
  said: string;
}

/**
 * Why an agent exceeded its time limit. An overload is named without numbers or output, so that reports count these
 * trajectories together.
 */
export function outOfTime({ limit, waited, load, said }: Circumstances): string {
  const time = `it took longer than ${limit} s`;
  if (load >= overloaded)
    return `${time} because of overload: at least ${overloaded} processes competed for each core of the machine`;
  if (waited > limit / 2)
    return `${time} because of overload: it waited for the policy more than half of the time`;
  return `${time}${said}`;
}
