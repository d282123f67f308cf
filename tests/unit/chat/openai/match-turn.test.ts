import { expect, test } from "vitest";
import type { GivenTurn } from "../../../../src/chat/openai/given-turn.ts";
import { matchTurn } from "../../../../src/chat/openai/match-turn.ts";
import type { EndpointMessage } from "../../../../src/chat/openai/model-request.ts";

const system: EndpointMessage = { role: "system", content: "S" };
const user: EndpointMessage = { role: "user", content: "U" };
const call = { id: "call1", name: "f", arguments: '{"a": 1.0}' };
const result: EndpointMessage = { role: "tool", content: "1", callId: "call1" };
const assistant = (content: string, more: Partial<EndpointMessage> = {}): EndpointMessage => ({
  role: "assistant",
  content,
  ...more,
});

function turn(
  number: number,
  parent: number | null,
  messages: EndpointMessage[],
  text = "",
  calls = [] as (typeof call)[],
): GivenTurn {
  return { number, parent, messages, answer: { id: `t${number}`, text, calls } };
}

const first = turn(1, null, [system, user], "", [call]);
const second = turn(2, 1, [result], " so ");
const ask = (turns: GivenTurn[], messages: EndpointMessage[], previousResponseId?: string) => {
  const { whole: _, ...match } = matchTurn(turns, { messages, tools: [], previousResponseId });
  return match;
};

test("a returned turn is known by a call's id, whatever the client made of its text and arguments", () => {
  const rewritten = assistant("trimmed", { calls: [{ ...call, arguments: '{"a":1}' }] });
  expect(ask([first], [system, user, rewritten, result])).toEqual({
    continues: 1,
    extendsLeaf: true,
    messages: [result],
  });
});

test("without an id it is known by its exact text and the names of its calls alone", () => {
  const renamed = assistant("", { calls: [{ ...call, id: "other" }] });
  expect(ask([first], [system, user, renamed, result]).continues).toBe(1);
  expect(ask([first], [system, user, assistant(""), user]).continues).toBeNull();
  expect(ask([first, second], [system, user, renamed, result, assistant(" so "), user]).continues).toBe(2);
  expect(ask([first, second], [system, user, renamed, result, assistant("so"), user]).continues).toBeNull();
});

test("the longest chain counts; where a turn was gone on after already, that is said", () => {
  const returned = assistant("", { calls: [call] });
  expect(ask([first, second], [system, user, returned, result])).toEqual({
    continues: 1,
    extendsLeaf: false,
    messages: [result],
  });
  const twin = turn(3, 1, [result], " so ");
  expect(
    ask([first, second, twin], [system, user, returned, result, assistant(" so "), user]).continues,
  ).toBe(3);
  const named = assistant("changed", { itemIds: ["msg_t2"] });
  expect(ask([first, second, twin], [system, user, returned, result, named, user]).continues).toBe(2);
});

test("another system message, other tools, another's answer, or nothing to add begin a row with the whole conversation", () => {
  const returned = assistant("", { calls: [call] });
  const other = [{ role: "system" as const, content: "T" }, user, returned, result];
  expect(ask([first], other)).toEqual({ continues: null, extendsLeaf: false, messages: other });
  const tools = [{ name: "f", description: "", parameters: {} }];
  const offered = { messages: [system, user, returned, result], tools };
  expect(matchTurn([first], offered).continues).toBeNull();
  expect(matchTurn([{ ...first, tools }], offered).continues).toBe(1);
  expect(ask([first], [system, user, returned, result, assistant("made up"), user]).continues).toBeNull();
  expect(ask([first], [system, user, returned]).continues).toBeNull();
  expect(ask([], [system, user]).continues).toBeNull();
});

test("items of which only the id is sent have their content in the whole conversation; unknown ones are refused", () => {
  const thought: GivenTurn = {
    ...turn(4, null, [user], "said"),
    answer: { id: "t4", text: "said", reasoning: "hm", calls: [call] },
  };
  const ids = ["rs_t4", "msg_t4", "fc_t4_0"];
  const referring = assistant("", { itemIds: ids, referredIds: ids });
  const { continues, whole } = matchTurn([thought], { messages: [user, referring, result], tools: [] });
  expect(continues).toBe(4);
  expect(whole[1]).toEqual(assistant("said", { reasoning: "hm", calls: [call], itemIds: ids }));
  expect(() => ask([thought], [assistant("", { referredIds: ["msg_x"] })])).toThrow(
    "Item msg_x was not given in this session",
  );
});

test("previous_response_id brings all that came before it but instructions, which are sent anew", () => {
  const instructions: EndpointMessage = { ...system, isInstructions: true };
  const begun = turn(5, null, [instructions, user], "one");
  const later = turn(6, 5, [user], "two");
  const both = [begun, later];
  expect(ask(both, [instructions, user], "resp_t6")).toEqual({
    continues: 6,
    extendsLeaf: true,
    messages: [user],
  });
  expect(ask(both, [user], "resp_t6").continues).toBeNull();
  const others = matchTurn(both, {
    messages: [{ ...instructions, content: "T" }, user],
    tools: [],
    previousResponseId: "resp_t6",
  });
  expect(others.whole.map(({ content }) => content)).toEqual(["T", "U", "one", "U", "two", "U"]);
  expect(() => ask(both, [user], "resp_none")).toThrow("Previous response resp_none was not given");
});
