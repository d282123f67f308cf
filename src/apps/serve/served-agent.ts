import { randomUUID } from "node:crypto";
import { EndpointProblem } from "../../chat/openai/endpoint-problem.ts";
import type { GivenTurn } from "../../chat/openai/given-turn.ts";
import { matchTurn } from "../../chat/openai/match-turn.ts";
import type { EndpointCall, EndpointMessage, ModelAnswer } from "../../chat/openai/model-request.ts";
import { toolDefinition } from "../../plan/pipeline/resolve/tool-definitions.ts";
import type { ServedPolicy } from "./served-policy.ts";
import type { ServedAnswer, ServedTools } from "./served-tools.ts";

/** A turn as its client sees it: the request without tools, and the answer after all calls. */
interface Shown extends GivenTurn {
  /** The conversation with the calls that were made here and their answers. */
  inner: EndpointMessage[];
  /** The trajectory on whose instances its tools are called. */
  trajectory: string;
}

interface Limits {
  /** The most actions per request. */
  maxTurns: number;
  /** The number of sessions whose turns are kept, and of turns per session. */
  sessions: number;
  turns: number;
}

/**
 * Answers with a policy and its tools. If the client brings no tools, the calls are made here, and the client
 * receives the last answer. When the conversation comes back, it continues after those calls, on the same instances.
 * A request that brings tools, or wants none called, only uses the policy.
 */
export function servedAgent(
  served: ServedPolicy,
  { functions, call }: Pick<ServedTools, "functions" | "call">,
  { maxTurns, sessions: most, turns: limit }: Limits,
): ServedPolicy {
  const tools = functions.map((one) => toolDefinition(one));
  const sessions = new Map<string, Shown[]>();
  let turnsSoFar = 0;

  function keep(session: string, turn: Omit<Shown, "number">): void {
    const turns = [...(sessions.get(session) ?? []), { ...turn, number: turnsSoFar++ }].slice(-limit);
    sessions.delete(session);
    sessions.set(session, turns); // moves the latest one to the end
    const [oldest] = sessions.keys();
    if (sessions.size > most && oldest !== undefined) sessions.delete(oldest);
  }

  async function resultOf(made: EndpointCall, trajectory: string): Promise<ServedAnswer> {
    const result = await call({
      trajectory,
      function: made.name,
      arguments: JSON.parse(made.arguments),
      task: {},
      key: `${trajectory}/${made.id}`,
    });
    if (result.failed === undefined) return result;
    throw new EndpointProblem(502, `The tool ${made.name} failed: ${result.failed}`, { code: "tool_failed" });
  }

  return {
    answer: async (session, request, context) => {
      if (request.tools.length > 0 || request.toolChoice === "none")
        return served.answer(session, request, context);
      const turns = sessions.get(session) ?? [];
      const { continues, messages: asked } = matchTurn(turns, request);
      const before = turns.find(({ number }) => number === continues);
      const trajectory = before?.trajectory ?? randomUUID();
      const inner = [...(before?.inner ?? []), ...asked];
      let completion = 0;
      for (let turn = 1; ; turn++) {
        const own = { ...request, tools, messages: inner, previousResponseId: undefined };
        const said = await served.answer(session, own, context);
        completion += said.usage.completion;
        const isLast = said.finishReason !== "tool_calls" || turn === maxTurns;
        const results = isLast ? [] : await Promise.all(said.calls.map((one) => resultOf(one, trajectory)));
        context.signal.throwIfAborted();
        const isDone = results.some(({ done }) => done);
        const isCut = said.finishReason === "tool_calls" && !isDone;
        inner.push(
          messageOf(said, isLast ? [] : said.calls),
          ...results.map(({ text }, index) => toolMessage(text, said.calls[index])),
        );
        if (!isLast && !isDone) continue;
        const answer: ModelAnswer = {
          ...said,
          text: said.text || results.map(({ text }) => text).join("\n"),
          calls: [],
          finishReason: isCut || said.finishReason === "length" ? "length" : "stop",
          usage: { ...said.usage, completion },
        };
        keep(session, { parent: continues, messages: asked, answer, inner, trajectory });
        return answer;
      }
    },
  };
}

function messageOf({ text, reasoning }: ModelAnswer, calls: EndpointCall[]): EndpointMessage {
  return { role: "assistant", content: text, reasoning, calls: calls.length === 0 ? undefined : calls };
}

function toolMessage(content: string, made: EndpointCall | undefined): EndpointMessage {
  return { role: "tool", content, name: made?.name, callId: made?.id };
}
