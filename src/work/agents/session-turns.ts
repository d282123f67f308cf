import { hash } from "node:crypto";
import { defined } from "../../base/records/defined.ts";
import { type ActionText, identified, textOf } from "../../chat/formats/action-format.ts";
import { expressionReader } from "../../chat/formats/expression.ts";
import { formatNamed, parseAction } from "../../chat/formats/parse-action.ts";
import { answerOfAction } from "../../chat/openai/answer-of-action.ts";
import type { GivenTurn } from "../../chat/openai/given-turn.ts";
import type { ModelAnswer } from "../../chat/openai/model-request.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ParsedAction } from "../../contracts/parsed-action.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { RecordedTurn } from "../../contracts/recorded-turn.ts";
import type { RecordedRequest, SessionAnswer } from "../../contracts/session.ts";
import type { SegmentRef } from "../../contracts/trajectory.ts";

/** A turn of an agent's session: its request and its answer. */
export interface SessionTurn extends GivenTurn {
  key: string;
  head: SegmentRef;
  answer: ModelAnswer;
  /** The ids of the calls in the action, by the ids in the agent's answer. */
  callIds: Record<string, string>;
  /** Calls of its conversation, including its own. */
  calls: number;
  /** Tokens of its conversation, including its own. */
  tokens: number;
  /** The tools of the first turn of its conversation. */
  tools: ToolDefinition[];
  /** False if its calls are text. */
  takesCalls: false | undefined;
}

/** The data of a turn except which turn it follows. The first turn of a conversation has the tools. */
type Known = Pick<RecordedRequest, "key" | "messages" | "tools" | "takesCalls"> &
  Omit<SessionAnswer, "tokens"> & {
    /** Tokens that the turn added, and tokens that the policy wrote. */
    tokens: { prompt: number; action: number };
  };

/**
 * Returns a function that makes the turns of the session of the trajectory `id`. The run's plan sets the
 * format of their actions.
 */
export function sessionTurns(id: string, { format, expression }: Plan["rollout"]) {
  const session = hash("sha256", id).slice(0, 10);

  const texts: ActionText = expression === undefined ? formatNamed(format ?? "hermes") : { asText: textOf };

  function parsed(
    { action, read }: Pick<Known, "action" | "read">,
    tools: readonly ToolDefinition[],
    callsBefore: number,
  ): ParsedAction {
    if (expression !== undefined) return identified(expressionReader(expression)(action, tools), callsBefore);
    if (read !== undefined) return identified(read, callsBefore);
    return parseAction(action, defined({ tools, callsBefore, format }));
  }

  return (known: Known, parent: SessionTurn | undefined): SessionTurn => {
    const { turn, key, head, messages, action, finishReason } = known;
    const tools = parent?.tools ?? known.tools ?? [];
    const read = parsed(known, tools, parent?.calls ?? 0);
    const answerId = `${session}t${turn}`;
    const takesCalls = known.takesCalls !== false;
    const said = answerOfAction(read, {
      written: action,
      format: texts,
      tools,
      takesCalls,
      callId: (index) => `call_${answerId}_${index}`,
    });
    const own = read.calls.filter(({ problem }) => problem === undefined);
    const callIds = Object.fromEntries(said.calls.map((call, index) => [call.id, own[index]?.id ?? call.id]));
    const before = (parent?.tokens ?? 0) + known.tokens.prompt;
    return {
      number: turn,
      parent: parent?.number ?? null,
      key,
      head,
      messages,
      callIds,
      tools,
      takesCalls: known.takesCalls,
      calls: (parent?.calls ?? 0) + (takesCalls ? read.calls.length : 0),
      tokens: before + known.tokens.action,
      answer: {
        id: answerId,
        ...said,
        finishReason: finishReason === "length" ? "length" : said.calls.length > 0 ? "tool_calls" : "stop",
        usage: { prompt: before, completion: known.tokens.action },
        created: Math.floor(Date.now() / 1000),
      },
    };
  };
}

/** Returns a recorded turn's data. Undefined if it did not answer an agent's request. */
export function knownTurn(
  turn: number,
  recorded: RecordedTurn,
): { known: Known; follows: number | null } | undefined {
  const { request, action, finishReason, head, tokens, read } = recorded;
  if (request === undefined) return undefined;
  const { key, messages, tools, takesCalls, follows } = request;
  const added = tokens.prompt + tokens.observation;
  return {
    known: defined({
      turn,
      key,
      messages,
      head,
      action: action.text,
      finishReason,
      tools,
      takesCalls,
      read,
      tokens: { prompt: added, action: tokens.action },
    }),
    follows,
  };
}
