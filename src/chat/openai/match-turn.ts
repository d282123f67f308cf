import { answerIds } from "./answer-ids.ts";
import type { GivenTurn } from "./given-turn.ts";
import type { EndpointMessage, ModelRequest } from "./model-request.ts";
import { wholeMessages } from "./whole-messages.ts";

/** The place in a session that a request continues from. */
export interface Continuation {
  /** The turn that the request continues; null if it begins a row. */
  continues: number | null;
  /** Whether no earlier request continued that turn. If one did, two rows share their beginning. */
  extendsLeaf: boolean;
  /** The messages after that turn, such as answers of tools. For a new row, all of them. */
  messages: EndpointMessage[];
  /** The whole conversation, including the content of items that were sent by id only. */
  whole: EndpointMessage[];
}

/**
 * Finds the turn that a request continues: the last one of the longest chain whose messages are all in the request.
 * It recognizes a returned turn by any id that it was given, or else by its exact text. A request begins a row if it
 * has other tools, has someone else's assistant message after the chain, or has nothing after it. Throws
 * EndpointProblem if it refers to an unknown answer or item.
 */
export function matchTurn(
  turns: readonly GivenTurn[],
  request: Pick<ModelRequest, "messages" | "tools" | "previousResponseId">,
): Continuation {
  const whole = wholeMessages(turns, request);
  const children = childrenOf(turns);
  const tools = JSON.stringify(request.tools);
  let longest: { turn: GivenTurn; end: number } | undefined;
  const open = (children.get(null) ?? [])
    .filter((turn) => JSON.stringify(turn.tools ?? []) === tools)
    .map((turn) => ({ turn, start: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { turn, start } = next;
    const end = endOf(turn, whole, start);
    if (end === undefined) continue;
    const isLonger = longest === undefined || end > longest.end;
    if (isLonger || (end === longest?.end && turn.number > longest.turn.number)) longest = { turn, end };
    for (const child of children.get(turn.number) ?? []) open.push({ turn: child, start: end });
  }
  const rest = longest && whole.slice(longest.end);
  if (longest === undefined || !rest?.length || rest.some(({ role }) => role === "assistant"))
    return { continues: null, extendsLeaf: false, messages: whole, whole };
  const { number } = longest.turn;
  return { continues: number, extendsLeaf: !children.has(number), messages: rest, whole };
}

function childrenOf(turns: readonly GivenTurn[]): Map<number | null, GivenTurn[]> {
  const children = new Map<number | null, GivenTurn[]>();
  for (const turn of turns) {
    const siblings = children.get(turn.parent);
    if (siblings === undefined) children.set(turn.parent, [turn]);
    else siblings.push(turn);
  }
  return children;
}

/** Where the messages after a turn begin, if its messages and answer are at `start`. */
function endOf(
  { messages, answer }: GivenTurn,
  whole: readonly EndpointMessage[],
  start: number,
): number | undefined {
  const isThere = messages.every((message, index) => isSame(message, whole[start + index]));
  const at = start + messages.length;
  const returned = whole[at];
  if (!isThere || returned === undefined || !isAnswer(returned, answer)) return undefined;
  let end = at + 1;
  for (let next = whole[end]; next && hasIdOf(next, answer); next = whole[end]) end++; // in several messages
  return end;
}

/** Whether a message is one that was sent before. Clients may add names to it or drop its reasoning. */
function isSame(one: EndpointMessage, other: EndpointMessage | undefined): boolean {
  return (
    other !== undefined &&
    one.role === other.role &&
    one.content === other.content &&
    sameImages(one.images, other.images) &&
    one.callId === other.callId &&
    JSON.stringify(one.calls ?? []) === JSON.stringify(other.calls ?? [])
  );
}

function sameImages(one: EndpointMessage["images"] = [], other: EndpointMessage["images"] = []): boolean {
  const named = (images: typeof one) => images.map(({ sha256, at }) => `${sha256} ${at}`).join();
  return named(one) === named(other);
}

function isAnswer(message: EndpointMessage, answer: GivenTurn["answer"]): boolean {
  if (message.role !== "assistant") return false;
  if (hasIdOf(message, answer)) return true;
  const { calls = [], itemIds = [] } = message;
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name).join("\n");
  return (
    message.content === answer.text &&
    calls.length === answer.calls.length &&
    names(calls) === names(answer.calls) &&
    itemIds.length === 0
  );
}

function hasIdOf({ role, calls = [], itemIds = [] }: EndpointMessage, answer: GivenTurn["answer"]): boolean {
  if (role !== "assistant") return false;
  const ids = answerIds(answer);
  const items = [ids.reasoning, ids.message, ...ids.calls];
  return (
    itemIds.some((id) => items.includes(id)) ||
    calls.some(({ id }) => answer.calls.some((own) => own.id === id))
  );
}
