import { isDeepStrictEqual } from "node:util";
import { defined } from "../../../base/records/defined.ts";
import { parseAction } from "../../../chat/formats/parse-action.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../contracts/json.ts";
import type { Action, LoopContext, Observation } from "../../../contracts/loop.ts";
import { outcomes } from "../../../contracts/outcomes.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { deepFreeze } from "../../../plan/pipeline/read/deep-freeze.ts";
import { loadLoop } from "../../../plugin/registry/registry.ts";
import { taskOf } from "../cases.ts";
import { keptAlive } from "../kept-alive.ts";
import { Broken } from "../promise.ts";

/** Globals of Node that workflow code does not have. */
const absent = [
  "Buffer",
  "process",
  "fetch",
  "crypto",
  "performance",
  "setImmediate",
  "clearImmediate",
  "navigator",
  "structuredClone",
  "queueMicrotask",
  "WebSocket",
  "XMLHttpRequest",
  "localStorage",
];

/**
 * Lets a loop decide the turns of a trajectory for the requested `actions` of the model, beginning at `turn` (from
 * 1) with the notes `state`. Returns its decisions. As in a history, time and random numbers are the same at the
 * same turn.
 */
export async function probe(plugin: ResolvedPlugin, asked: JsonObject): Promise<JsonValue> {
  const loop = await keptAlive(loadLoop({ ...plugin, workflow: plugin.entry }));
  const actions = Array.isArray(asked.actions) ? asked.actions.map(String) : [];
  const config = deepFreeze(structuredClone(plugin.config));
  for (const name of absent) Reflect.deleteProperty(globalThis, name);
  let state: JsonObject = isObject(asked.state) ? asked.state : {};
  const turns: JsonValue[] = [];
  for (let turn = Number(asked.turn ?? 1); turn <= actions.length; turn++) {
    recordedClock(turn);
    const decisions: JsonValue[] = [];
    const outcome = await loop(contextOf(turn, actions[turn - 1] ?? "", decisions, { state, config }));
    if (outcome !== "continue" && !Object.hasOwn(outcomes, String(outcome)))
      throw new Broken(
        `turn ${turn} ended with ${JSON.stringify(outcome)}`,
        `A turn returns "continue", or how the trajectory ended: ${Object.keys(outcomes).join(", ")}.`,
      );
    const kept: JsonObject = JSON.parse(JSON.stringify(state));
    if (!isDeepStrictEqual(kept, state))
      throw new Broken(
        `the notes after turn ${turn} are not what JSON makes of them`,
        "Keep texts, numbers, lists and objects in `state`: it goes through the history.",
      );
    state = kept;
    turns.push({ turn, decisions, outcome, state });
    if (outcome !== "continue") break;
  }
  return turns;
}

function recordedClock(turn: number): void {
  let drawn = turn;
  Math.random = () => {
    drawn = (drawn * 16807) % 2147483647;
    return drawn / 2147483647;
  };
  Date.now = () => 1_700_000_000_000 + turn;
}

function contextOf(
  turn: number,
  actionText: string,
  decisions: JsonValue[],
  given: Pick<LoopContext, "state" | "config">,
): LoopContext {
  let isAsked = false;
  async function generate(): Promise<Action> {
    if (isAsked)
      throw new Broken(
        `turn ${turn} generates a second action`,
        "Generate once a turn, and return “continue” for the next one.",
      );
    isAsked = true;
    decisions.push({ generate: turn });
    return { text: actionText, finishReason: "stop" };
  }
  const observed = (tool: string, said: string, valid: boolean): Observation => ({ tool, text: said, valid });
  return {
    turn,
    ...given,
    tools: [
      { name: "calculator", description: "Calculates.", parameters: { type: "object", properties: {} } },
    ],
    task: async () => taskOf({}),
    nextRequest: async () => ({ key: `request ${turn}` }),
    generate,
    parse: (action) => parseAction(action.text),
    callTool: async ({ name, arguments: parameters }) => {
      decisions.push({ call: name, arguments: parameters });
      return observed(name, `what ${name} answers in turn ${turn}`, name === "calculator");
    },
    useTool: async (name, parameters) => {
      decisions.push({ use: name, arguments: parameters });
      return observed(name, `what ${name} answers in turn ${turn}`, true);
    },
    sleep: async (milliseconds) => {
      decisions.push({ sleep: milliseconds });
    },
    agent: (name, { prompt, tools }) => {
      const told = prompt.map(({ role, content }) => ({ role, content }));
      decisions.push(defined({ agent: name, prompt: told, tools }));
      return {
        generate,
        append: (all) => void decisions.push({ appendTo: name, texts: all.map((one) => one.text) }),
        say: (text) => void decisions.push({ sayTo: name, text }),
      };
    },
    reject: (call, reason) => {
      decisions.push({ reject: call, reason });
      return observed("", reason, false);
    },
    say: (text) => {
      decisions.push({ say: text });
    },
    append: (observations) => {
      decisions.push({ append: observations.map((one) => ({ ...one })) });
    },
  };
}
