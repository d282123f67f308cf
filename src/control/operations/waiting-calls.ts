import type { Client } from "@temporalio/client";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import type { WaitingCall } from "../../contracts/orders.ts";
import { askTranscript, liveTrajectories } from "../temporal/live-trajectories.ts";

/** A waiting call with its trajectory. */
export interface Waiting extends WaitingCall {
  trajectory: string;
}

/**
 * The tool calls of a run that wait for a person. `onNotice` receives a line about a trajectory that no worker
 * answers for. One that has ended meanwhile has no waiting calls.
 */
export async function waitingCalls(
  client: Client,
  run: string,
  onNotice: (text: string) => void,
): Promise<Waiting[]> {
  const ids = await liveTrajectories(client, run, true);
  return (await Promise.all(ids.map((id) => callsOf(client, id, onNotice)))).flat();
}

async function callsOf(
  client: Client,
  trajectory: string,
  onNotice: (text: string) => void,
): Promise<Waiting[]> {
  try {
    const { waiting } = await askTranscript(client, trajectory);
    return waiting.map((call) => ({ trajectory, ...call }));
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    if (error.code !== "TRAJECTORY_NOT_LIVE") onNotice(`${error.code}: ${error.message}`);
    return [];
  }
}
