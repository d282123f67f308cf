import type { JsonValue } from "../contracts/json.ts";
import type { RewardPlugin } from "../contracts/reward.ts";
import type { ToolPlugin } from "../contracts/tool.ts";
import type { FunctionName, PluginFunctions, StateNumber } from "./protocol.ts";

/** A call in a plugin's thread. */
export interface ServedCall {
  number: number;
  signal: AbortSignal;
  hold(handle: JsonValue): void;
}

type Answer<Name extends FunctionName> = PluginFunctions[Name]["answer"];

/** What a plugin's thread does when it is asked to. */
export type ServedFunctions = {
  [Name in FunctionName]?: (
    request: PluginFunctions[Name]["request"],
    call: ServedCall,
  ) => Promise<Answer<Name>> | Answer<Name>;
};

/** The functions of a tool, whose instances' states are kept in `states` by the call that made them. */
export function servedTool(plugin: ToolPlugin<unknown>, states: Map<StateNumber, unknown>): ServedFunctions {
  const { create, restore, snapshot, release, reap, probe } = plugin;
  const keep = ({ number }: ServedCall, state: unknown): StateNumber => {
    states.set(number, state);
    return number;
  };
  return {
    execute: ({ parameters, execution, state }, { signal }) =>
      plugin.execute(parameters, { ...execution, signal }, state === undefined ? state : states.get(state)),
    ...(create && {
      create: async (creation, call) => {
        const { signal, hold } = call;
        return keep(call, await create.call(plugin, { ...creation, signal, hold }));
      },
    }),
    ...(restore && {
      restore: async ({ snapshot: bytes, creation }, call) => {
        const { signal, hold } = call;
        return keep(call, await restore.call(plugin, bytes, { ...creation, signal, hold }));
      },
    }),
    ...(snapshot && {
      // A copy: a view would cross with all of the buffer that it looks at.
      snapshot: async ({ state }) => new Uint8Array(await snapshot.call(plugin, states.get(state))),
    }),
    ...(release && {
      release: async ({ state }) => {
        await release.call(plugin, states.get(state));
      },
    }),
    ...(reap && {
      reap: async ({ handle, config }) => {
        await reap.call(plugin, handle, config);
      },
    }),
    ...(probe && {
      probe: async ({ config }) => {
        await probe.call(plugin, config);
      },
    }),
  };
}

/** The function of a reward manager. */
export function servedReward(plugin: RewardPlugin): ServedFunctions {
  return { score: (request) => plugin.score(request) };
}
