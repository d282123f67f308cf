import type { SampledSequence } from "@everturn/tinker";

/** A request for an action of a group: several trajectories of one task. */
export interface ActionRequest {
  version: number;
  prompt: readonly number[];
  maxTokens: number;
  temperature: number;
  /** Tokens that end an action. */
  stop: readonly number[];
  /** The seed of the group's action 0. Servers draw each further action of a request with the next seed. */
  seed: number;
  /** The action's place in its group. */
  index: number;
}

/** Sends a request for `count` actions. `first` describes the first one. */
export type SendActions = (
  first: ActionRequest,
  count: number,
  signal: AbortSignal,
) => Promise<readonly SampledSequence[]>;

interface Waiting {
  request: ActionRequest;
  signal: AbortSignal;
  resolve: (sequence: SampledSequence | undefined) => void;
  reject: (reason: unknown) => void;
}

/** Milliseconds that a request waits for others of its group. */
const patience = 20;

/**
 * Sends the requests of a group that have the same prompt together, so that the server reads it once. An action is the
 * same whether it was sent alone or with others. Returns undefined if the server returned fewer sequences.
 */
export function groupRequests(
  send: SendActions,
): (request: ActionRequest, signal: AbortSignal) => Promise<SampledSequence | undefined> {
  const groups = new Map<string, Waiting[]>();

  async function sendAll(members: readonly Waiting[]): Promise<void> {
    const sending = new AbortController();
    let left = members.length;
    for (const { signal, reject } of members) {
      const leave = () => {
        reject(signal.reason);
        left -= 1;
        if (left === 0) sending.abort(signal.reason);
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true, signal: sending.signal });
    }
    try {
      const sequences = await send(members[0]!.request, members.length, sending.signal);
      for (const [index, { resolve }] of members.entries()) resolve(sequences[index]);
    } catch (error) {
      for (const { reject } of members) reject(error);
    } finally {
      sending.abort();
    }
  }

  return (request, signal) =>
    new Promise((resolve, reject) => {
      const { index: _, ...common } = request;
      const key = JSON.stringify(common);
      const group = groups.get(key) ?? [];
      group.push({ request, signal, resolve, reject });
      if (group.length > 1) return;
      groups.set(key, group);
      setTimeout(() => {
        groups.delete(key);
        for (const members of consecutive(group)) void sendAll(members);
      }, patience);
    });
}

/** Splits requests into runs of consecutive places. */
function consecutive(group: readonly Waiting[]): Waiting[][] {
  const runs: Waiting[][] = [];
  let next: number | undefined;
  for (const one of group.toSorted((a, b) => a.request.index - b.request.index)) {
    const { index } = one.request;
    if (index === next) runs.at(-1)!.push(one);
    else runs.push([one]);
    next = index + 1;
  }
  return runs;
}
