import { defined } from "../../base/records/defined.ts";
import { EndpointProblem } from "../../chat/openai/endpoint-problem.ts";
import { fieldOf, isAbsent, nameIn, textIn } from "../../chat/openai/fields.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { KeptOutcome } from "../../contracts/session.ts";
import type { AgentConversation } from "./trajectory-session.ts";

/**
 * The paths at which an agent reports its function calls and their results, in addition to those of OpenAI's
 * protocols: `/recorded_calls` before a call, `/recorded_results` after it. docs/agents.md describes their
 * bodies.
 */
export function recordedCallPaths(
  sessionOf: (key: string) => Pick<AgentConversation, "begin" | "end">,
): Record<string, (key: string, body: JsonObject) => Promise<object>> {
  return {
    "/recorded_calls": async (key, body) => {
      const callId = fieldOf(body, "call_id");
      const { id, idempotencyKey, recorded } = sessionOf(key).begin(
        defined({
          name: nameIn(fieldOf(body, "name")),
          arguments: body.arguments ?? null,
          callId: isAbsent(callId) ? undefined : textIn(callId),
        }),
      );
      return { id, idempotency_key: idempotencyKey, recorded: recorded ?? null };
    },
    "/recorded_results": async (key, body) => {
      const id = nameIn(fieldOf(body, "id"));
      return { recorded: await sessionOf(key).end(id, outcomeIn(body)) };
    },
  };
}

function outcomeIn(body: JsonObject): KeptOutcome {
  const error = fieldOf(body, "error");
  if (isAbsent(error)) return body.result === undefined ? {} : { result: body.result };
  if (body.result !== undefined)
    throw new EndpointProblem(400, "A call has a result or an error: send one of them.", { param: "error" });
  return { error: textIn(error) };
}
