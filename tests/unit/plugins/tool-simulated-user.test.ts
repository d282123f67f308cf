import { expect, test, vi } from "vitest";
import user from "../../../plugins/tool-simulated-user/index.ts";
import { begun } from "../../../plugins/tool-simulated-user/talk.ts";
import { defined } from "../../../src/base/records/defined.ts";
import type { Task } from "../../../src/contracts/generated/task.ts";
import type { JsonObject } from "../../../src/contracts/json.ts";
import { jsonServer } from "../../support/json-server.ts";

/** What an OpenAI-compatible endpoint answers: no model is behind it here, the form is as their API documents it. */
const completion = (content: unknown) => ({
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
});

const task = (prompt: Task["prompt"], instruction?: string): Task =>
  defined({
    data_source: "shop",
    prompt,
    reward_model: { ground_truth: "" },
    extra_info: instruction === undefined ? undefined : { interaction_kwargs: { instruction } },
  });
const system = { role: "system" as const, content: "You help customers." };
const settings = { model: "user", rules: "You want: {instruction} End by {end}.", end: "###STOP###" };

/** A conversation with a user whose model says these, one after the other. */
async function talkWith(said: unknown[], about: Task, more: JsonObject = {}) {
  const server = await jsonServer(() => {
    const next = said.shift();
    return next instanceof Error ? { status: 500, value: next.message } : { value: completion(next) };
  });
  const config = { ...settings, temperature: 0, seed: 1, maxTokens: 64, url: `${server.url}/v1/`, ...more };
  const { signal } = new AbortController();
  const execution = { instance: "a", function: "user", key: "a/1/0", attempt: 1, config, signal };
  const { create, restore, snapshot } = user;
  if (!create || !restore || !snapshot) throw new Error("it holds state");
  const creation = { instance: "a", task: about, config, signal, environment: {}, hold: () => {} };
  let talk = await create(creation);
  const hear = async (words?: string) => {
    const answer = await user.execute(
      words === undefined ? {} : { said: words },
      { ...execution, isReplay: false },
      talk,
    );
    talk = await restore((await snapshot(talk)) ?? new Uint8Array(), creation);
    return answer;
  };
  return { hear, asked: server.asked };
}

test("a user who begins says what it wants, hears what is said, and is done when its model says so", async () => {
  vi.stubEnv("EVERTURN_TEST_KEY", "s3cret");
  const said = ["<think>cancel</think> Cancel it, please.", "4711", "Thanks. ###STOP### Bye."];
  const { hear, asked } = await talkWith(said, task([system], "Cancel order 4711."), {
    key: "EVERTURN_TEST_KEY",
  });
  expect(await hear()).toEqual({ text: "Cancel it, please." });
  expect(await hear("Which one?")).toEqual({ text: "4711" });
  expect(await hear("Done.")).toEqual({ text: "Thanks.", done: true });
  expect(asked[0]).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer s3cret" },
  });
  expect(asked[2]?.body).toEqual({
    model: "user",
    temperature: 0,
    seed: 1,
    max_tokens: 64,
    messages: [
      { role: "system", content: "You want: Cancel order 4711. End by ###STOP###." },
      { role: "user", content: "Hello! How can I help you?" },
      { role: "assistant", content: "Cancel it, please." },
      { role: "user", content: "Which one?" },
      { role: "assistant", content: "4711" },
      { role: "user", content: "Done." },
    ],
  });
});

test("what stands in the prompt has been said; without an instruction it is what the user is there for", () => {
  const { messages } = begun(task([system, { role: "user", content: "$& {end}?" }]), settings);
  expect(messages).toEqual([
    { role: "system", content: "You want: $& ###STOP###? End by ###STOP###." },
    { role: "user", content: "Hello! How can I help you?" },
    { role: "assistant", content: "$& {end}?" },
  ]);
});

test.each([
  [new Error("busy"), "answered 500: busy"],
  ["", "said nothing"],
  [null, "said nothing"],
  [7, "said nothing"],
])("an endpoint that says %j has failed, and the same is asked again", async (answer, reason) => {
  const { hear, asked } = await talkWith([answer, "Yes."], task([{ role: "user", content: "Hi" }]));
  await expect(hear("Sure?")).rejects.toThrow(reason);
  expect(await hear("Sure?")).toEqual({ text: "Yes." });
  expect(asked[0]?.body).toEqual(asked[1]?.body);
});

test("a key that is not there is told", async () => {
  const { hear } = await talkWith(["Yes."], task([{ role: "user", content: "Hi" }]), {
    key: "EVERTURN_NO_KEY",
  });
  await expect(hear("Sure?")).rejects.toThrow("the worker has no environment variable EVERTURN_NO_KEY");
});
