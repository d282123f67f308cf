import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";

/** The name under which the agent records the verdict for the reward. */
export const verdictName = "verdict";

/** How an episode that worked was scored. */
export interface Verdict extends JsonObject {
  reward: number;
  /** The rewards and metrics by name, each reward times its weight. */
  metrics: Record<string, number>;
}

/** An episode that grows with the server's deltas. */
export interface Episode {
  add(delta: JsonObject): void;
  /** Returns the verdict, once the reply has come. Throws if the episode failed or its parts are incomplete. */
  verdict(reply: JsonObject): Verdict;
}

/** What the deltas of a trace have said so far. */
interface Trace {
  nodes: number;
  calls: number;
  errors: JsonValue[];
  /** The newest value of each field. */
  fields: JsonObject;
}

/** Creates an episode without parts. */
export function newEpisode(): Episode {
  const traces = new Map<string, Trace>();
  return {
    add: (delta) => {
      const id = String(delta.trace);
      if (delta.discard === true) {
        traces.delete(id); // the server starts it again
        return;
      }
      const trace = traces.get(id) ?? { nodes: 0, calls: 0, errors: [], fields: {} };
      traces.set(id, trace);
      trace.nodes += listOf(delta.nodes).length;
      trace.calls += listOf(delta.calls).length;
      trace.errors.push(...listOf(delta.errors));
      Object.assign(trace.fields, isObject(delta.set) ? delta.set : {});
    },
    verdict: ({ success, error, head, traces: summaries }) => {
      if (success !== true) throw new Error(`the server could not run the episode: ${error}`);
      const { ok, errors } = isObject(head) ? head : {};
      const parts = listOf(summaries)
        .filter(isObject)
        .map((summary) => partOf(traces, summary));
      const trained = parts.filter(({ fields: { agent } }) => isObject(agent) && agent.trainable === true);
      const [trace] = trained;
      if (ok !== true || parts.some(({ fields }) => fields.ok !== true))
        throw new Error(`the episode failed: ${saidBy([errors, ...parts.map((one) => one.errors)])}`);
      if (trace === undefined || trained.length > 1)
        throw new Error(`the episode has ${trained.length} traces of agents that train: it must have one`);
      if (trace.fields.is_timeout === true)
        throw new Error(`the episode exceeded a time limit: ${trace.fields.stop_condition}`);
      return scored(trace.fields);
    },
  };
}

/** The trace that a reply counts. Throws if deltas of it were lost. */
function partOf(traces: ReadonlyMap<string, Trace>, { id, nodes, calls }: JsonObject): Trace {
  const trace = traces.get(String(id));
  if (trace !== undefined && trace.nodes === nodes && trace.calls === calls) return trace;
  const had = `${trace?.nodes ?? 0} nodes and ${trace?.calls ?? 0} calls`;
  throw new Error(`the server counts ${nodes} nodes and ${calls} calls of the trace ${id}, and sent ${had}`);
}

function scored({ rewards, metrics }: JsonObject): Verdict {
  const given = isObject(rewards) ? Object.entries(rewards) : [];
  const parts = given.map(([name, one]): [string, number] => {
    const { score, weight } = isObject(one) ? one : {};
    if (typeof score !== "number" || typeof weight !== "number" || !Number.isFinite(score * weight))
      throw new Error(`the episode's reward ${name} is not a number: ${JSON.stringify(one)}`);
    return [name, score * weight];
  });
  if (parts.length === 0) throw new Error("the episode has no reward");
  const numbers = Object.entries(isObject(metrics) ? metrics : {}).filter(isNumber);
  return {
    reward: parts.reduce((sum, [, part]) => sum + part, 0),
    metrics: Object.fromEntries([...numbers, ...parts]),
  };
}

function isNumber(entry: [string, JsonValue]): entry is [string, number] {
  return Number.isFinite(entry[1]);
}

/** The errors of an episode as a sentence. */
function saidBy(lists: readonly (JsonValue | undefined)[]): string {
  const said = lists.flatMap(listOf).map((error) => {
    const { type, message } = isObject(error) ? error : {};
    return `${type ?? "error"}: ${message ?? JSON.stringify(error)}`;
  });
  return [...new Set(said)].join("; ") || "the server gave no reason";
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
