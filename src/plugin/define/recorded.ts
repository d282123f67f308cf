import { AsyncLocalStorage } from "node:async_hooks";
import { defined } from "../../base/records/defined.ts";
import type { KeptOutcome, KeptRequest } from "../../contracts/session.ts";
import { callOf, isPlainJson } from "./recorded-arguments.ts";
import { withCalls } from "./recorded-tool.ts";

type Work<Given extends unknown[], Result> = (...given: Given) => Result;

const underWay = new AsyncLocalStorage<string>();

/**
 * Returns the idempotency key of the recorded call that this code is part of. A repeated call has the same
 * key. Undefined outside a recorded call and outside a trajectory.
 */
export function idempotencyKey(): string | undefined {
  return underWay.getStore();
}

/**
 * Records the results of an agent's function. When the agent restarts, the same call returns its recorded result instead
 * of running again. Arguments and results must be JSON values. The first argument that is not (a signal, a client), and all
 * after it, are passed on but do not distinguish calls. Outside a trajectory, the function is unchanged.
 */
export function recorded<Given extends unknown[], Result>(
  name: string,
  work: Work<Given, Result>,
): Work<Given, Promise<Awaited<Result>>>;
/** Records the results of a tool of the AI SDK, LangChain.js, Mastra, OpenAI's agents SDK or `runTools`. */
export function recorded<Tool extends object>(name: string, tool: Tool): Tool;
export function recorded(name: string, what: unknown): unknown {
  if (isWork(what)) return recordedWork(name, what, callOf);
  const tool = withCalls(what, (work, read) => recordedWork(name, work, read));
  if (tool !== undefined) return tool;
  throw new TypeError(
    `recorded(${JSON.stringify(name)}, …) takes a function, or a tool of the AI SDK, LangChain.js, Mastra or OpenAI's libraries.`,
  );
}

function isWork(value: unknown): value is Work<unknown[], unknown> {
  return typeof value === "function";
}

function recordedWork(
  name: string,
  work: Work<unknown[], unknown>,
  read: (given: unknown[]) => Omit<KeptRequest, "name">,
): Work<unknown[], unknown> {
  return function (this: unknown, ...given) {
    const session = sessionOf(process.env);
    if (session === undefined) return work.apply(this, given);
    return recordedCall(session, { name, ...read(given) }, () => work.apply(this, given));
  };
}

async function recordedCall(session: AgentSession, call: KeptRequest, make: () => unknown): Promise<unknown> {
  const { name, arguments: given, callId } = call;
  const begun: Begun = await session.post("recorded_calls", { name, arguments: given, call_id: callId });
  if (begun.recorded !== null) return outcomeOf(begun.recorded);
  let result: unknown;
  try {
    result = await underWay.run(begun.idempotency_key, async () => lastOf(await make()));
    if (!isPlainJson(result))
      throw new TypeError(`${name} gave what JSON can't say, so it can't be recorded.`);
  } catch (error) {
    const told = { id: begun.id, error: error instanceof Error ? error.message : String(error) };
    await session.post("recorded_results", told).catch(() => {}); // the function's own error is more useful
    throw error;
  }
  const ended: { recorded: KeptOutcome } = await session.post(
    "recorded_results",
    defined({
      id: begun.id,
      result,
    }),
  );
  return outcomeOf(ended.recorded);
}

function outcomeOf(outcome: KeptOutcome): unknown {
  if ("error" in outcome) throw new Error(outcome.error);
  return outcome.result;
}

/** Of several results in a row, such as those of an AI SDK generator, the last one counts. */
async function lastOf(result: unknown): Promise<unknown> {
  if (!isSeries(result)) return result;
  let last: unknown;
  for await (const one of result) last = one;
  return last;
}

function isSeries(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

interface Begun {
  id: string;
  idempotency_key: string;
  recorded: KeptOutcome | null;
}

interface AgentSession {
  post(path: string, body: object): Promise<ReturnType<typeof JSON.parse>>;
}

/** The session of the trajectory whose agent runs in this process. Undefined outside an agent. */
function sessionOf(environment: Record<string, string | undefined>): AgentSession | undefined {
  const { EVERTURN_TRAJECTORY, OPENAI_BASE_URL, OPENAI_API_KEY } = environment;
  if (EVERTURN_TRAJECTORY === undefined || OPENAI_BASE_URL === undefined) return undefined;
  return {
    post: async (path, body) => {
      const response = await fetch(`${OPENAI_BASE_URL}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${OPENAI_API_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok)
        throw new Error(`The session of ${EVERTURN_TRAJECTORY} refused a recorded call: ${text}`);
      return JSON.parse(text);
    },
  };
}
