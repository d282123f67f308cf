import { expect, test } from "vitest";
import type { SessionAnswer, SessionRequest } from "../../../../src/contracts/session.ts";
import type { Follower, StartAgent } from "../../../../src/work/agents/held-agent.ts";
import { type HeldAgents, heldAgents } from "../../../../src/work/agents/held-agents.ts";

const place = { id: "r/step-0001/t/0", run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 };
const asked = { place, source: "training" as const };
const never = new AbortController().signal;

const request = (key: string): SessionRequest => ({
  key,
  messages: [],
  tools: [],
  callIds: {},
  callsBefore: 0,
  answered: [],
});

const answer = (action: string): SessionAnswer => ({
  turn: 1,
  head: action,
  action,
  finishReason: "stop",
  tokens: { prompt: 1, action: 1 },
});

/** Starts an agent that runs `work`. Its session knows these requests of recorded turns. */
function agentThat(
  work: (ask: (key: string) => Promise<string>, follower: Follower) => Promise<string>,
  recorded: string[] = [],
): StartAgent {
  return async (_, follower) => {
    const ask = async (key: string) => (await follower.ask(request(key))).action;
    const over = work(ask, follower).then((text) => ({ answer: text }));
    const requestAfter = (turns: number) => {
      const key = recorded[turns];
      return key === undefined ? undefined : request(key);
    };
    return { session: { requestAfter }, over };
  };
}

const patience = { busyAfter: 50, unclaimed: 60_000 };
const keyOf = (result: Awaited<ReturnType<HeldAgents["continue"]>>) =>
  "request" in result ? result.request.key : result;
const next = async (agents: HeldAgents, turns: number, answered?: { key: string; answer: SessionAnswer }) =>
  keyOf(await agents.continue({ ...asked, turns, answered }, never));

test("an agent's requests come one by one, each until it is answered, and then its end", async () => {
  const agents = heldAgents(
    agentThat(async (ask) => `${await ask("one")} ${await ask("two")}`),
    patience,
  );
  expect(await next(agents, 0)).toBe("one");
  expect(await next(agents, 0)).toBe("one");
  expect(await next(agents, 1, { key: "one", answer: answer("first") })).toBe("two");
  expect(await next(agents, 2, { key: "two", answer: answer("second") })).toEqual({
    ended: { answer: "first second" },
  });
  expect(await next(agents, 2)).toEqual({ ended: { answer: "first second" } });
});

test("simultaneous requests come in order, and an action that belongs to the later one goes there", async () => {
  const agents = heldAgents(
    agentThat(async (ask) => (await Promise.all([ask("one"), ask("two")])).join(" ")),
    patience,
  );
  expect(await next(agents, 0)).toBe("one");
  expect(await next(agents, 1, { key: "two", answer: answer("second") })).toBe("one");
  expect(await next(agents, 2, { key: "one", answer: answer("first") })).toEqual({
    ended: { answer: "first second" },
  });
});

test("turns that are recorded and that the trajectory lost come first, even if the agent has ended", async () => {
  const agents = heldAgents(
    agentThat(async () => "all from the record", ["one", "two"]),
    patience,
  );
  expect(await next(agents, 0)).toBe("one");
  expect(await next(agents, 1, { key: "one", answer: answer("first") })).toBe("two");
  expect(await next(agents, 2, { key: "two", answer: answer("second") })).toEqual({
    ended: { answer: "all from the record" },
  });
});

test("an action for a request that the restarted agent sends later is not lost", async () => {
  const gate = Promise.withResolvers<void>();
  const agents = heldAgents(
    agentThat(async (ask) => {
      await gate.promise;
      return ask("one");
    }),
    patience,
  );
  expect(await next(agents, 1, { key: "one", answer: answer("first") })).toEqual({ isBusy: true });
  gate.resolve();
  expect(await next(agents, 1)).toEqual({ ended: { answer: "first" } });
});

test("a busy agent is run on, with the request that it made meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  const starts: number[] = [];
  const agents = heldAgents(
    agentThat(async (ask, { report }) => {
      starts.push(1);
      report("room");
      await gate.promise;
      return `${await ask("one")} ${await ask("two")}`;
    }),
    patience,
  );
  expect(await next(agents, 0)).toEqual({ isBusy: true });
  gate.resolve();
  const reports: (string | undefined)[] = [];
  const follower: Follower = {
    ask: async ({ key }) => answer(`action ${key}`),
    signal: never,
    report: (text) => reports.push(text),
  };
  expect(await agents.run(asked, follower)).toEqual({ answer: "action one action two" });
  expect([starts, reports]).toEqual([[1], ["room"]]);
});

test("a failure is thrown once, and the next attempt starts the agent again", async () => {
  let starts = 0;
  const agents = heldAgents(
    agentThat(async (ask) => {
      if (++starts === 1) throw new Error("no luck");
      return ask("one");
    }),
    patience,
  );
  await expect(next(agents, 0)).rejects.toThrow("no luck");
  expect(await next(agents, 0)).toBe("one");
  expect(starts).toBe(2);
});

test.each(["end", "idle time", "close"])(
  "an agent ends by its %s, and its requests are refused",
  async (how) => {
    const refused = Promise.withResolvers<unknown>();
    const agents = heldAgents(
      agentThat(async (ask, { signal }) => {
        const aborted = new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
        ask("one").catch(refused.resolve);
        await aborted;
        return "";
      }),
      { busyAfter: 50, unclaimed: how === "idle time" ? 60 : 60_000 },
    );
    expect(await next(agents, 0)).toBe("one");
    if (how === "end") await agents.end(place.id);
    if (how === "close") await agents.close();
    expect(await refused.promise).toMatchObject({ code: "SESSION_ENDED" });
  },
);

test("a wait that is canceled leaves the agent to the next one", async () => {
  const gate = Promise.withResolvers<void>();
  const agents = heldAgents(
    agentThat(async (ask) => {
      await gate.promise;
      return ask("one");
    }),
    { busyAfter: 10_000, unclaimed: 60_000 },
  );
  const canceling = new AbortController();
  const waiting = agents.continue({ ...asked, turns: 0 }, canceling.signal);
  canceling.abort(new Error("canceled"));
  await expect(waiting).rejects.toThrow("canceled");
  gate.resolve();
  expect(await next(agents, 0)).toBe("one");
});
