import { join } from "node:path";
import { parseAction } from "everturn/testing";
import type { LoopContext } from "everturn/workflow";
import { expect, test } from "vitest";
import { isRight } from "../../../plugins/loop-interaction/is-right.ts";
import interaction from "../../../plugins/loop-interaction/workflow.ts";
import { checkValue } from "../../../src/base/validation/check-value.ts";
import { manifestAs } from "../../../src/plugin/registry/alias.ts";
import { checkManifest } from "../../../src/plugin/registry/manifest.ts";

test.each([
  ["So she has 18 in all.\n#### 18", "18", true],
  ["#### 17\nNo, #### 18", "18", true],
  ["#### $1,234.", "1234", true],
  ["It is 18.0", "18", true],
  ["<answer>18</answer> of 20", "18", true],
  ["\\boxed{-3}", "-3", true],
  ["18 or 19", "18", false],
  ["I don't know", "18", false],
  ["<answer> Paris </answer>", "Paris", true],
  ["#### ", "18", false],
])("%j against %s: %s", (text, truth, expected) => {
  expect(isRight(text, truth)).toBe(expected);
});

/** How a conversation goes, in addition to the policy's actions. */
interface Play {
  config?: { attempts?: number; maxTurns?: number; feedback?: string; user?: string };
  /** The roles of the prompt's messages. */
  roles?: ("system" | "user")[];
  /** What the tool that plays the user says. The conversation is done where it says nothing. */
  replies?: string[];
}

/** Plays actions to the end; how it ended, and what was said. */
async function play(actions: string[], { config = {}, roles = ["user"], replies = [] }: Play = {}) {
  const said: string[] = [];
  const state = {};
  const left = [...replies];
  for (const [index, text] of actions.entries()) {
    const context: LoopContext = {
      turn: index + 1,
      tools: [],
      state,
      config: { feedback: "Try again.", ...config },
      task: async () => ({
        data_source: "a",
        prompt: roles.map((role) => ({ role, content: "?" })),
        reward_model: { ground_truth: "18" },
        extra_info: { interaction_kwargs: { hints: ["Look again."] } },
      }),
      nextRequest: () => Promise.reject(new Error("no agent")),
      generate: async () => ({ text, finishReason: "stop" }),
      parse: (action) => parseAction(action.text),
      callTool: async ({ name }) => ({ tool: name, text: "10", valid: true }),
      useTool: async (tool, { said: heard = "nothing" }) => {
        said.push(`${tool} heard ${String(heard)}`);
        const reply = left.shift();
        return { tool, text: reply ?? "", valid: true, done: reply === undefined };
      },
      sleep: () => Promise.resolve(),
      agent: () => {
        throw new Error("this loop has no sub-agent");
      },
      reject: (_, reason) => ({ tool: "", text: reason, valid: false }),
      append: (observations) => void said.push(...observations.map((one) => `observed ${one.text}`)),
      say: (words) => void said.push(words),
    };
    const outcome = await interaction(context);
    if (outcome !== "continue") return { outcome, said, turns: index + 1 };
  }
  return { outcome: "continue", said, turns: actions.length };
}

test("a right answer ends it, a wrong one is told its hint, then the feedback; the last attempt stands", async () => {
  expect(await play(["#### 18", "never"])).toEqual({ outcome: "answered", said: [], turns: 1 });
  expect(await play(["#### 1", "#### 18"], { config: { attempts: 3 } })).toEqual({
    outcome: "answered",
    said: ["Look again."],
    turns: 2,
  });
  expect(await play(["#### 1", "#### 2", "#### 3"], { config: { attempts: 3 } })).toEqual({
    outcome: "answered",
    said: ["Look again.", "Try again."],
    turns: 3,
  });
  expect(await play(["#### 1", "#### 2"])).toMatchObject({ outcome: "answered", turns: 2 });
});

test("tools may be called before each answer, as many turns as there are", async () => {
  const call = '<tool_call>{"name": "calculator", "arguments": {}}</tool_call>';
  expect(await play([call, "#### 1", call, "#### 18"])).toEqual({
    outcome: "answered",
    said: ["observed 10", "Look again.", "observed 10"],
    turns: 4,
  });
  expect(await play([call, call], { config: { maxTurns: 2 } })).toMatchObject({ outcome: "turn-limit" });
  expect(await play(["#### 1"], { config: { maxTurns: 1 } })).toMatchObject({
    outcome: "answered",
    said: [],
  });
});

test("a user replies to each answer until the user is done", async () => {
  const call = '<tool_call>{"name": "calculator", "arguments": {}}</tool_call>';
  const talk = { config: { user: "mia" }, replies: ["And now?"] };
  expect(await play([call, "#### 18", "Bye.", "never"], talk)).toEqual({
    outcome: "answered",
    said: ["observed 10", "mia heard #### 18", "And now?", "mia heard Bye."],
    turns: 3,
  });
});

test("the user begins where the prompt does not end with a user message", async () => {
  const talk = { config: { user: "user" }, roles: ["system" as const], replies: ["Hello."] };
  expect(await play(["Bye."], talk)).toEqual({
    outcome: "answered",
    said: ["user heard nothing", "Hello.", "user heard Bye."],
    turns: 1,
  });
});

test("the last answer in a conversation with a user has no reply", async () => {
  const talk = { config: { user: "user", maxTurns: 1 }, replies: ["And now?"] };
  expect(await play(["Bye."], talk)).toEqual({ outcome: "answered", said: [], turns: 1 });
});

test("loop-simulated-user is an alias with the options of a conversation with a user", async () => {
  const folder = join(import.meta.dirname, "../../../plugins/loop-interaction");
  const manifest = checkManifest(folder).manifest ?? expect.unreachable();
  const { config } = manifestAs(manifest, "loop-simulated-user").manifest;
  const given = {};
  expect(checkValue(config ?? {}, given).errors).toEqual([]);
  expect(given).toEqual({ user: "user", maxTurns: 30 });
  expect(checkValue(config ?? {}, { attempts: 2 }).errors).toMatchObject([
    { keyword: "additionalProperties" },
  ]);
});
