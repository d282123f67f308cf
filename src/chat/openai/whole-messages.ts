import { answerIds } from "./answer-ids.ts";
import { EndpointProblem } from "./endpoint-problem.ts";
import type { GivenTurn } from "./given-turn.ts";
import type { EndpointMessage, ModelRequest } from "./model-request.ts";

/**
 * The whole conversation of a request, including the messages before `previousResponseId` and items that it sends by
 * id only.
 */
export function wholeMessages(
  turns: readonly GivenTurn[],
  { messages, previousResponseId }: Pick<ModelRequest, "messages" | "previousResponseId">,
): EndpointMessage[] {
  const told = messages.map((message) =>
    message.referredIds === undefined ? message : filled(turns, message),
  );
  if (previousResponseId === undefined) return told;
  const previous = turns.find(({ answer }) => answerIds(answer).response === previousResponseId);
  if (previous === undefined) throw unknown("Previous response", previousResponseId, "previous_response_id");
  const before = chainOf(turns, previous).flatMap((turn) => [
    ...turn.messages.filter(({ isInstructions }) => !isInstructions),
    returned(turn),
  ]);
  const [first, ...rest] = told;
  return first?.isInstructions ? [first, ...before, ...rest] : [...before, ...told];
}

/** A turn and its predecessors, beginning with the row's first. */
function chainOf(turns: readonly GivenTurn[], last: GivenTurn): GivenTurn[] {
  const byNumber = new Map(turns.map((turn) => [turn.number, turn]));
  const chain: GivenTurn[] = [];
  for (let turn: GivenTurn | undefined = last; turn !== undefined; ) {
    chain.unshift(turn);
    turn = turn.parent === null ? undefined : byNumber.get(turn.parent);
  }
  return chain;
}

/** A turn as a client returns it if it changes nothing. */
function returned({ answer }: GivenTurn): EndpointMessage {
  const ids = answerIds(answer);
  return {
    role: "assistant",
    content: answer.text,
    reasoning: answer.reasoning,
    calls: answer.calls.length === 0 ? undefined : answer.calls,
    itemIds: [ids.message],
  };
}

function filled(
  turns: readonly GivenTurn[],
  { referredIds = [], ...message }: EndpointMessage,
): EndpointMessage {
  let whole: EndpointMessage = message;
  for (const id of referredIds) {
    const found = turns.find((turn) => itemIdsOf(turn.answer).includes(id));
    if (found === undefined) throw unknown("Item", id, "input");
    const { answer } = found;
    const ids = answerIds(answer);
    const call = answer.calls[ids.calls.indexOf(id)];
    if (id === ids.reasoning) whole = { ...whole, reasoning: answer.reasoning };
    else if (id === ids.message) whole = { ...whole, content: answer.text };
    else if (call !== undefined) whole = { ...whole, calls: [...(whole.calls ?? []), call] };
  }
  return whole;
}

function itemIdsOf(answer: GivenTurn["answer"]): string[] {
  const { reasoning, message, calls } = answerIds(answer);
  return [reasoning, message, ...calls];
}

function unknown(what: string, id: string, param: string): EndpointProblem {
  return new EndpointProblem(
    404,
    `${what} ${id} was not given in this session: send what it says in its place.`,
    {
      param,
      code: "not_found",
    },
  );
}
