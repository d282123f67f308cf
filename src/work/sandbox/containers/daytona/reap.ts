import { isEnded } from "../leases.ts";
import type { DaytonaApi } from "./api.ts";

/** The label by which the sandboxes of all workers are found. */
export const mark = { everturn: "container" };

/** Removes sandboxes whose lease has ended. Returns how many. */
export async function reap(api: DaytonaApi): Promise<number> {
  const found = await api.list(mark);
  const ended = found.filter(({ labels, state }) => isEnded(labels) && !state.startsWith("destroy"));
  await Promise.all(ended.map(({ id }) => api.remove(id)));
  return ended.length;
}
