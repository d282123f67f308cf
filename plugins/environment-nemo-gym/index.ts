import { createHash } from "node:crypto";
import {
  type EnvironmentPlugin,
  isObject,
  type JsonObject,
  serverAddress,
  type Task,
  type ToolResponse,
} from "everturn/plugin";
import { type Answer, ask, type ResourcesSession, successOf } from "./resources-session.ts";
import { responseOf } from "./response.ts";
import { functionsOf, readRows, rowOf, taskOf } from "./rows.ts";

/** The history of a session, from which it can be restored. */
interface History {
  session: ResourcesSession;
  calls: { name: string; arguments: JsonObject; digest: string }[];
}

/** Rows and sessions of a resources server of NeMo Gym. */
const nemoGym: EnvironmentPlugin<History> = {
  async load(config) {
    if (config.start !== undefined) await urlOf(config); // installs and starts it before the first episode
    return rowsOf(config).map(taskOf);
  },

  functions(config) {
    const functions = functionsOf(rowsOf(config));
    if (Object.keys(functions).length > 0) return functions;
    throw new Error("no row has tools in its responses_create_params");
  },

  async create({ task, config, signal, hold }) {
    const history = { session: await seeded(task, config, signal), calls: [] };
    hold({ cookies: { ...history.session.cookies } });
    return history;
  },

  execute: (given, { function: name, signal }, history) => called(history, name, given, signal),

  async release({ session }) {
    await closed(session);
  },

  async reap(handle, config) {
    await closed({ url: await urlOf(config), cookies: cookiesOf(handle) });
  },

  snapshot: (history) => Buffer.from(JSON.stringify(history)),

  async restore(snapshot, { task, config, signal, hold }) {
    const history = await repeated(historyIn(snapshot), task, config, signal);
    hold({ cookies: { ...history.session.cookies } });
    return history;
  },

  async probe(config) {
    const response = await fetch(`${await urlOf(config)}${ready}`);
    if (!response.ok) throw new Error(`${ready} answered ${response.status}`);
  },

  async score({ task, turns, answer, config, snapshots = {}, signal }) {
    const last = snapshots["nemo-gym"];
    const before = last === undefined ? undefined : historyIn(last);
    const isOwn = before !== undefined && config.verify === "session";
    const { session } = isOwn ? before : await repeated(before, task, config, signal);
    const { responses_create_params: params, ...row } = rowOf(task);
    const response = responseOf(turns, answer, isObject(params) ? params : {});
    const body = { ...row, responses_create_params: params ?? {}, response };
    const verdict = successOf(await ask(session, "/verify", body, signal), "/verify");
    if (!isOwn) await closed(session);
    const {
      reward,
      mask_sample: isMasked,
      failure_kind: kind,
      failure_reason: reason,
      reward_components,
    } = verdict;
    if (isMasked === true || typeof kind === "string")
      return {
        missing: `the environment excludes it (${kind ?? "mask_sample"}): ${reason ?? "no reason given"}`,
      };
    if (typeof reward !== "number") return { missing: "/verify gave no reward that is a number" };
    return { reward, success: reward >= Number(config.success), metrics: numbersOf(reward_components) };
  },
};

export default nemoGym;

function rowsOf({ rows, limit }: JsonObject): JsonObject[] {
  return readRows(String(rows), typeof limit === "number" ? limit : undefined);
}

/** The only page of a server that changes no session. */
const ready = "/openapi.json";

function urlOf(config: JsonObject, signal?: AbortSignal): Promise<string> {
  return serverAddress(config, { ready, signal });
}

/** Starts a session with a task's row. */
async function seeded(task: Task, config: JsonObject, signal: AbortSignal): Promise<ResourcesSession> {
  const session: ResourcesSession = { url: await urlOf(config, signal), cookies: {} };
  successOf(await ask(session, "/seed_session", rowOf(task), signal), "/seed_session");
  return session;
}

/** Calls a tool, and adds the call to the history. Arguments that the server rejects are the policy's mistake. */
async function called(
  history: History,
  name: string,
  given: JsonObject,
  signal: AbortSignal,
): Promise<ToolResponse> {
  const path = `/${encodeURIComponent(name)}`;
  const answer = await ask(history.session, path, given, signal);
  if (answer.status === 422) return { invalid: `error: ${JSON.stringify(Object(answer.value).detail)}` };
  successOf(answer, path);
  history.calls.push({ name, arguments: given, digest: digestOf(answer) });
  return { text: typeof answer.value === "string" ? answer.value : JSON.stringify(answer.value) };
}

function digestOf({ value }: Answer): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

/**
 * Repeats the calls of a history in a new session, because no request tells the state of the old one: a call whose answer
 * was lost may have counted, and its server may have restarted. Throws if an answer differs.
 */
async function repeated(
  before: History | undefined,
  task: Task,
  config: JsonObject,
  signal: AbortSignal,
): Promise<History> {
  const fresh: History = { session: await seeded(task, config, signal), calls: [] };
  try {
    for (const [index, call] of (before?.calls ?? []).entries()) {
      await called(fresh, call.name, call.arguments, signal);
      if (fresh.calls[index]?.digest !== call.digest)
        throw new Error(`the environment answered call ${index + 1} of a repeated session otherwise`);
    }
    return fresh;
  } catch (error) {
    await closed(fresh.session);
    throw error;
  }
}

function historyIn(snapshot: Uint8Array): History {
  return JSON.parse(Buffer.from(snapshot).toString());
}

function cookiesOf(handle: unknown): ResourcesSession["cookies"] {
  return { ...Object(Object(handle).cookies) };
}

/** Milliseconds for the end of a session. */
const closingLimit = 10_000;

/** Ends a session. Releases before 0.7 have no request for that, and one that is unknown has ended. */
async function closed(session: ResourcesSession): Promise<void> {
  const rollout_id = idOf(session);
  const body = { resources_session_id: rollout_id, episode_id: { rollout_id, attempt: 0 } };
  const answer = await ask(session, "/close_session", body, AbortSignal.timeout(closingLimit));
  if (answer.status !== 404) successOf(answer, "/close_session");
}

/** The id in a session's cookie, which is base64 of JSON before its signature. */
function idOf({ cookies }: ResourcesSession): string {
  for (const value of Object.values(cookies)) {
    const text = Buffer.from(value.split(".")[0] ?? "", "base64").toString();
    const [, id] = /"session_id": ?"([^"]+)"/.exec(text) ?? [];
    if (id !== undefined) return id;
  }
  return "unknown";
}

/** The components of a reward that are numbers, as metrics. */
function numbersOf(components: unknown): Record<string, number> {
  const entries = isObject(components) ? Object.entries(components) : [];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === "number" ? [[name, value]] : [])),
  );
}
