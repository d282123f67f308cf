import { parseAction } from "everturn/testing";
import type { LoopContext, Observation } from "everturn/workflow";
import { expect, test } from "vitest";
import oneLook from "../loops/one-look.ts";

test("the loop answers one call and takes the next action as the answer", async () => {
  const asks = '<tool_call>{"name": "price", "arguments": {"item": "664"}}</tool_call>';
  const first = contextOf(asks, 1);
  expect(await oneLook(first.context)).toBe("continue");
  expect(first.appended).toEqual([{ tool: "price", text: "10", valid: true }]);
  expect(await oneLook(contextOf("Answer: 10", 2).context)).toBe("answered");
  expect(await oneLook(contextOf(asks, 2).context)).toBe("answered");
});

test("the model reads what is wrong with an unreadable call", async () => {
  const { context, appended } = contextOf("<tool_call>price of 664</tool_call>", 1);
  expect(await oneLook(context)).toBe("continue");
  expect(appended).toMatchObject([{ valid: false, text: expect.stringContaining("Write <tool_call>") }]);
});

/** A loop's context with one action, and a tool that always answers 10. */
function contextOf(text: string, turn: number): { context: LoopContext; appended: Observation[] } {
  const appended: Observation[] = [];
  const context: LoopContext = {
    turn,
    tools: [],
    config: {},
    state: {},
    task: () => Promise.reject(new Error("this loop does without")),
    nextRequest: () => Promise.reject(new Error("this loop has no agent")),
    generate: () => Promise.resolve({ text, finishReason: "stop" }),
    parse: (action) => parseAction(action.text),
    callTool: ({ name }) => Promise.resolve({ tool: name, text: "10", valid: true }),
    useTool: () => Promise.reject(new Error("this loop has no tool of its own")),
    sleep: () => Promise.resolve(),
    agent: () => {
      throw new Error("this loop has no sub-agent");
    },
    reject: (_, reason) => ({ tool: "", text: reason, valid: false }),
    append: (observations) => void appended.push(...observations),
    say: () => {},
  };
  return { context, appended };
}
