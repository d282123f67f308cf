import { defined } from "../../base/records/defined.ts";
import { type KeepImage, withKeptImages } from "../../chat/openai/kept-images.ts";
import { matchTurn } from "../../chat/openai/match-turn.ts";
import type { ModelAnswer, ModelRequest } from "../../chat/openai/model-request.ts";
import { withProperties } from "../../chat/openai/read-tools.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { KeptOutcome, SessionAnswer, SessionRequest } from "../../contracts/session.ts";
import type { TrajectoryPlace } from "../../contracts/trajectory.ts";
import { inDemonstratedForm } from "../../plan/pipeline/resolve/demonstrated-tools.ts";
import type { Journal } from "../../run/trajectory/run-journal.ts";
import { recordedTurns } from "../../run/trajectory/segments.ts";
import { type KeptResults, openAgentCalls } from "./agent-calls.ts";
import { knownTurn, type SessionTurn, sessionTurns } from "./session-turns.ts";

/** An agent's conversation with the policy. Its turns are those of a trajectory. */
export interface AgentConversation {
  /**
   * Answers a request: from the record if an earlier process of the agent made the same request, otherwise
   * with a new turn.
   */
  answer(request: ModelRequest, key: string): Promise<ModelAnswer>;
  /** Begins a call of the agent's function. Returns its recorded result or its id. */
  begin: KeptResults["begin"];
  /** Records a call's result. */
  end(id: string, outcome: KeptOutcome): Promise<KeptOutcome>;
}

/** An agent's conversation with the policy, and what its trajectory needs to follow it. */
export interface FollowedConversation extends AgentConversation {
  /**
   * Returns the request that the turn after the first `turns` answered, if it is known. A workflow that lost turns
   * with its worker takes them again.
   */
  requestAfter(turns: number): SessionRequest | undefined;
}

/**
 * Opens the session of a trajectory with its recorded turns. `generate` asks its workflow for an action. Requests show
 * the tools in the order and form of the plan's demonstrations. `keep` stores images, and without it they are rejected.
 */
export async function openTrajectorySession(
  place: TrajectoryPlace,
  { rollout, demonstratedTools }: Pick<Plan, "rollout" | "demonstratedTools">,
  journal: Journal,
  generate: (request: SessionRequest) => Promise<SessionAnswer>,
  keep?: KeepImage,
): Promise<FollowedConversation> {
  const make = sessionTurns(place.id, rollout);
  const known = new Map<number, SessionTurn>();
  let turns = 0;
  for await (const turn of recordedTurns(journal, place)) {
    const number = ++turns;
    const found = knownTurn(number, turn);
    if (found === undefined) continue;
    const parent = found.follows === null ? undefined : known.get(found.follows);
    known.set(number, make(found.known, parent));
  }
  const calls = await openAgentCalls(place, journal, turns);
  const byKey = new Map([...known.values()].map((turn) => [turn.key, turn]));
  /** The turns that this process of the agent has received. */
  const given: SessionTurn[] = [];
  const answered = new Set<string>();

  return {
    answer: async (request, key) => {
      const before = byKey.get(key);
      if (before !== undefined) {
        if (!given.includes(before)) given.push(before);
        return before.answer;
      }
      const tools = inDemonstratedForm(request.tools.map(withProperties), demonstratedTools);
      const sent = await withKeptImages(request.messages, keep);
      const { continues, messages } = matchTurn(given, { ...request, messages: sent, tools });
      const parent = given.find((one) => one.number === continues);
      const asked: SessionRequest = {
        ...afterTurn(parent, {
          key,
          tools,
          takesCalls: tools.length === 0 || request.toolChoice === "none" ? false : undefined,
          messages: messages.map(({ itemIds: _, referredIds: __, sentImages: ___, ...message }) => message),
        }),
        callIds: callIdsOf(given, parent),
        answered: answeredBy(messages, given, answered, calls),
      };
      const turn = make({ ...asked, ...(await generate(asked)) }, parent);
      turns = Math.max(turns, turn.number);
      known.set(turn.number, turn);
      byKey.set(key, turn);
      given.push(turn);
      return turn.answer;
    },
    begin: calls.begin,
    end: (id, outcome) => calls.end(id, outcome, turns),
    requestAfter: (number) => {
      const turn = known.get(number + 1);
      if (turn === undefined) return undefined;
      const parent = turn.parent === null ? undefined : known.get(turn.parent);
      return { ...afterTurn(parent, turn), callIds: {}, answered: [] };
    },
  };
}

/** A request that continues the conversation of `parent`, or begins one. */
function afterTurn(
  parent: SessionTurn | undefined,
  { key, tools, takesCalls, messages }: Pick<SessionTurn, "key" | "tools" | "takesCalls" | "messages">,
): Omit<SessionRequest, "callIds" | "answered"> {
  return defined({
    key,
    tools,
    takesCalls,
    messages: [...messages],
    callsBefore: parent?.calls ?? 0,
    follows: parent && { turn: parent.number, head: parent.head },
  });
}

function callIdsOf(given: readonly SessionTurn[], parent: SessionTurn | undefined): Record<string, string> {
  const ids: Record<string, string> = {};
  for (let turn = parent; turn !== undefined; ) {
    Object.assign(ids, turn.callIds);
    const { parent: before } = turn;
    turn = given.find(({ number }) => number === before);
  }
  return ids;
}

/** The calls of earlier actions whose results are new in these messages. */
function answeredBy(
  messages: ModelRequest["messages"],
  given: readonly SessionTurn[],
  answered: Set<string>,
  { madeFor }: KeptResults,
): SessionRequest["answered"] {
  return messages.flatMap(({ callId, content }) => {
    if (callId === undefined || answered.has(callId)) return [];
    for (const { number, answer } of given) {
      const call = answer.calls.findIndex(({ id }) => id === callId);
      const made = answer.calls[call];
      if (made === undefined) continue;
      answered.add(callId);
      const asked = { tool: made.name, arguments: JSON.parse(made.arguments) };
      return [
        {
          turn: number,
          call,
          ...asked,
          observation: content,
          valid: true as const,
          ...madeFor({ id: callId, ...asked }),
        },
      ];
    }
    return [];
  });
}
