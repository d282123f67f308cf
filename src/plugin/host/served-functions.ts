import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { OfferedFunction } from "../../contracts/plan.ts";
import type { GroupRewardPlugin, RewardPlugin } from "../../contracts/reward.ts";
import type { ToolPlugin } from "../../contracts/tool.ts";
import { argumentsValidator } from "../registry/validate-arguments.ts";
import {
  checkedGroupScores,
  checkedRefusal,
  checkedScore,
  checkedSnapshot,
  invalidAnswer,
  isPlain,
} from "./checked-answer.ts";
import { checkedResponse } from "./checked-response.ts";
import type { FunctionName, PluginFunctions, StateNumber } from "./protocol.ts";

/** A call in a plugin's thread. */
export interface Execution {
  number: number;
  signal: AbortSignal;
  hold(handle: JsonValue): void;
}

type Answer<Name extends FunctionName> = PluginFunctions[Name]["answer"];

/** The functions that a plugin's thread can call. */
export type ServedFunctions = {
  [Name in FunctionName]?: (
    request: PluginFunctions[Name]["request"],
    call: Execution,
  ) => Promise<Answer<Name>> | Answer<Name>;
};

/**
 * Returns the functions of the tool plugin `name`. `states` keeps its instances' states by the call that made
 * them. The functions throw PLUGIN_ANSWER_INVALID.
 */
export function servedTool(
  name: string,
  plugin: ToolPlugin<unknown>,
  states: Map<StateNumber, unknown>,
): ServedFunctions {
  const { create, restore, snapshot, release, reap, probe, functions, refusal } = plugin;
  const keep = ({ number }: Execution, state: unknown): StateNumber => {
    states.set(number, state);
    return number;
  };
  return defined({
    execute: async ({ parameters, execution, state: number }, { signal }) => {
      const state = number === undefined ? undefined : states.get(number);
      return checkedResponse(name, await plugin.execute(parameters, { ...execution, signal }, state));
    },
    create:
      create &&
      (async (creation, call) => {
        const { signal, hold } = call;
        return keep(call, await create.call(plugin, { ...creation, signal, hold }));
      }),
    restore:
      restore &&
      (async ({ snapshot: bytes, creation }, call) => {
        const { signal, hold } = call;
        return keep(call, await restore.call(plugin, bytes, { ...creation, signal, hold }));
      }),
    snapshot:
      snapshot &&
      (async ({ state }) => checkedSnapshot(name, await snapshot.call(plugin, states.get(state)))),
    release:
      release &&
      (async ({ state }) => {
        await release.call(plugin, states.get(state));
      }),
    reap:
      reap &&
      (async ({ handle, config }) => {
        await reap.call(plugin, handle, config);
      }),
    probe:
      probe &&
      (async ({ config }) => {
        await probe.call(plugin, config);
      }),
    refusal:
      refusal &&
      (async ({ tasks, config }) => {
        const said: (string | undefined)[] = [];
        for (const task of tasks) said.push(checkedRefusal(name, await refusal.call(plugin, task, config)));
        return said;
      }),
    functions:
      functions && (async ({ config }) => checkedFunctions(name, await functions.call(plugin, config))),
  });
}

/** Returns the function of the reward plugin `name`. It throws PLUGIN_ANSWER_INVALID. */
export function servedReward(name: string, plugin: RewardPlugin): ServedFunctions {
  return {
    score: async (request, { signal }) =>
      checkedScore(name, await plugin.score({ ...request, signal }), request.turns.length),
  };
}

/** Returns the function of the group reward plugin `name`. It throws PLUGIN_ANSWER_INVALID. */
export function servedGroupReward(name: string, plugin: GroupRewardPlugin): ServedFunctions {
  return {
    scoreGroup: async (request, { signal }) =>
      checkedGroupScores(name, await plugin.scoreGroup({ ...request, signal }), request.members.length),
  };
}

/** Validates the functions that a tool lists. Throws PLUGIN_ANSWER_INVALID. */
function checkedFunctions(plugin: string, given: unknown): OfferedFunction[] {
  const refuse = (expected: string) => invalidAnswer(plugin, "functions", given, expected);
  if (!isPlain(given) || Array.isArray(given))
    throw refuse("it must be { name: { description, parameters } }");
  const entries = Object.entries(given);
  if (entries.length === 0) throw refuse("there must be at least one function");
  return entries.map(([name, said]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
      throw refuse(`“${name}” must be letters, digits, _ and -, at most 64`);
    if (!isPlain(said)) throw refuse(`“${name}” must be { description, parameters }`);
    const { description, parameters, forLoops } = said;
    if (typeof description !== "string" || description === "")
      throw refuse(`“${name}.description” must be text`);
    if (!isPlain(parameters) || parameters.type !== "object")
      throw refuse(`“${name}.parameters” must be a JSON Schema of type object`);
    try {
      const schema: JsonObject = JSON.parse(JSON.stringify(parameters));
      argumentsValidator(schema);
      return defined({ name, description, parameters: schema, forLoops: forLoops === true || undefined });
    } catch (error) {
      throw refuse(`“${name}.parameters” must be a JSON Schema: ${messageOf(error)}`);
    }
  });
}
