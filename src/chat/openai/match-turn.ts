import { answerIds } from "./answer-ids.ts";
import type { GivenTurn } from "./given-turn.ts";
import type { EndpointMessage, ModelRequest } from "./model-request.ts";
import { wholeMessages } from "./whole-messages.ts";

/** Where a request goes on. */
export interface Continuation {
  /** The turn that the request goes on after; null: it begins a row. */
  continues: number | null;
  /** Nothing was asked after that turn before. Where something was, two rows begin alike. */
  extendsLeaf: boolean;
  /** What comes after that turn: tools' answers, say. Of a new row all of them. */
  messages: EndpointMessage[];
  /** The whole conversation, with the content of items of which only the id was sent. */
  whole: EndpointMessage[];
}

/**
 * Which of a session's turns a request goes on after: the last of the longest chain of which every message is in the request. A returned
 * turn is known by any id that it was given, or else by its exact text. Requests with other tools, with another's assistant message after the
 * chain, or with nothing after it begin a row. Throws EndpointProblem where the request refers to an answer or an item that was not
 * given.
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

/** Where the messages after a turn begin, if what stands from `start` on is that turn's messages and its answer. */
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

/** A message that was sent before. What clients add to it later (names) or drop from it (reasoning) makes no other of it. */
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
