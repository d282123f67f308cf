import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import { type AgentHost, agentHost } from "../../../../src/work/agents/agent-host.ts";
import type { Patience } from "../../../../src/work/agents/kept-agent.ts";
import type { AgentConversation } from "../../../../src/work/agents/trajectory-session.ts";
import { createToolHost, type ToolHost } from "../../../../src/work/tools/tool-host.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const behaviors = join(import.meta.dirname, "..", "..", "..", "agents", "behaviors.ts");
let host: AgentHost | undefined;

afterEach(async () => {
  await host?.close();
  host = undefined;
});

function openHost(patience?: Patience): AgentHost {
  return agentHost({ started: () => {}, ended: () => {} }, () => {}, patience);
}

/** Runs trajectories of these prompts at once, each with the name `t` and its index. Each action is its trajectory's name. */
function runAll(
  config: JsonObject,
  prompts: string[],
  signal = new AbortController().signal,
  service?: ToolHost,
) {
  host ??= openHost();
  const agents = host;
  return Promise.allSettled(
    prompts.map((content, index) => {
      const id = `t${index}`;
      const conversation: AgentConversation = {
        answer: async (request) => ({
          id: crypto.randomUUID().replaceAll("-", ""),
          text: `${id} ${request.messages[0]?.content}`,
          calls: [],
          finishReason: "stop",
          usage: { prompt: 1, completion: 1 },
          created: 0,
        }),
        begin: () => ({ id: "", idempotencyKey: "" }),
        end: async (_, outcome) => outcome,
      };
      return agents.run({
        loop: { name: "loop-agent", config: { module: behaviors, ...config } },
        trajectories: 100,
        place: { id, run: "r", stage: "step-0001", step: 1, task: "t", sample: 0 },
        task: { data_source: "", prompt: [{ role: "user", content }], reward_model: { ground_truth: "" } },
        session: conversation,
        host: service,
        signal,
        report: () => {},
      });
    }),
  );
}

function answerOf(settled: PromiseSettledResult<string> | undefined): string {
  if (settled?.status !== "fulfilled") throw settled?.reason;
  return settled.value;
}

function reasonOf(settled: PromiseSettledResult<string> | undefined): string {
  return settled?.status === "rejected" ? String(settled.reason.message) : `answered: ${settled?.value}`;
}

const fewThreads = 2; // a thread per 16 trajectories, and at most one per core

test("threads keep the module, and each trajectory has its own session, whenever its clients were made", async () => {
  const settled = await runAll(
    { mode: "thread" },
    Array.from({ length: 20 }, () => "ask"),
  );
  const answers = settled.map((one) => JSON.parse(answerOf(one)));
  for (const [index, { said }] of answers.entries()) {
    const id = `t${index}`;
    expect(said).toEqual([`${id} 0`, id, `${id} 2`, id, `${id} 4`, id, `${id} 6`, id]);
  }
  expect(new Set(answers.map(({ pid }) => pid))).toEqual(new Set([process.pid]));
  expect(new Set(answers.map(({ threadId }) => threadId)).size).toBeLessThanOrEqual(fewThreads);
});

test("two agents of one pipeline run at once, each in its own threads", async () => {
  const other = join(folder, "other.ts");
  writeFileSync(other, 'export const agent = async () => "the other one";\n');
  const [[one], [two]] = await Promise.all([
    runAll({ mode: "thread" }, ["count"]),
    runAll({ mode: "thread", module: other, export: "agent" }, ["count"]),
  ]);
  expect([answerOf(one), answerOf(two)]).toEqual(["1", "the other one"]);
});

test("processes of a pool run one trajectory after the other, and at most as many as configured", async () => {
  const config = { mode: "pool", concurrency: 2 };
  const settled = await runAll(
    config,
    Array.from({ length: 6 }, () => "ask"),
  );
  const answers = settled.map((one) => JSON.parse(answerOf(one)));
  for (const [index, { said }] of answers.entries())
    expect(said.slice(0, 3)).toEqual([`t${index} 0`, `t${index}`, `t${index} 2`]);
  const pids = new Set(answers.map(({ pid }) => pid));
  expect(pids.size).toBeLessThanOrEqual(2);
  expect(pids).not.toContain(process.pid);
  expect(Math.max(...answers.map(({ trajectories }) => trajectories))).toBeGreaterThanOrEqual(3);
});

test("a request with another trajectory's key is rejected", async () => {
  const [settled] = await runAll({ mode: "thread" }, ["steal everturn-other"]);
  expect(reasonOf(settled)).toMatch(/t0 has another trajectory's key/);
});

test.each(["thread", "pool"])("a failure in a %s shows its own output only", async (mode) => {
  const [one, other] = await runAll({ mode, attempts: 1 }, ["print Ann", "print Bob"]);
  for (const [settled, name, stranger] of [
    [one, "Ann", "Bob"],
    [other, "Bob", "Ann"],
  ] as const) {
    expect(reasonOf(settled)).toContain(`${name} failed`);
    expect(reasonOf(settled)).toMatch(new RegExp(`last output: printed by ${name}\\s+then by ${name}`));
    expect(reasonOf(settled)).not.toContain(stranger);
  }
});

test("an error that nothing caught fails its trajectory, and the others in the thread continue", async () => {
  const [bad, good] = await runAll({ mode: "thread" }, ["later Ann", "wait 300"]);
  expect(reasonOf(bad)).toContain("Ann threw later");
  expect(answerOf(good)).toBe("waited");
});

test("a trajectory that ends its thread fails, and the others are repeated at no cost", async () => {
  const config = { mode: "thread", attempts: 1 };
  const [bad, good] = await runAll(config, ["exit 3", "wait 1000"]);
  expect(reasonOf(bad)).toContain("it ended with code 3");
  expect(reasonOf(bad)).toMatch(/AGENT_GAVE_UP|failed once/);
  expect(good).toMatchObject({ reason: { code: "AGENT_INTERRUPTED", retryable: true } });
  const [, again] = await runAll(config, ["ask", "wait 10"]);
  expect(answerOf(again)).toBe("waited");
});

test.each(["thread", "pool", "process"])("process.exit(0) ends the trajectory in a %s", async (mode) => {
  const [settled] = await runAll({ mode }, ["exit 0"]);
  expect(answerOf(settled)).toBe("");
});

test("a thread that does not respond is replaced, and its trajectories run alone to find the one that blocks", async () => {
  const config = { mode: "thread", attempts: 1 };
  host = openHost({ silence: 1500, leftover: 200, loading: 60_000 });
  const first = await runAll(config, ["block", "wait 8000"]);
  for (const settled of first) expect(settled).toMatchObject({ reason: { code: "AGENT_INTERRUPTED" } });
  const [bad, good] = await runAll(config, ["block", "wait 100"]);
  expect(reasonOf(bad)).toContain("it blocked its thread for longer than 1.5 s");
  expect(bad).toMatchObject({ reason: { code: "AGENT_GAVE_UP" } });
  expect(answerOf(good)).toBe("waited");
}, 30_000);

test("a process of a pool that is killed fails its trajectory only", async () => {
  const config = { mode: "pool", concurrency: 2 };
  const [bad, good] = await runAll(config, ["kill", "wait 500"]);
  expect(bad).toMatchObject({ reason: { code: "AGENT_FAILED" } });
  expect(reasonOf(bad)).toContain("SIGKILL");
  expect(answerOf(good)).toBe("waited");
  expect(answerOf((await runAll(config, ["wait 1"]))[0])).toBe("waited");
});

test.each(["thread", "pool"])(
  "a trajectory that exceeds its time fails, even if it ignores its signal: %s",
  async (mode) => {
    host = openHost({ silence: 30_000, leftover: 0, loading: 60_000 });
    const config = { mode, timeout: 10, concurrency: 2 };
    const [bad, good] = await runAll(config, ["deaf 60000", "wait 50"]);
    expect(reasonOf(bad)).toContain("it took longer than 10 s");
    expect(answerOf(good)).toBe("waited");
    await sleep(200);
    const next = await runAll(config, ["count", "count"]);
    expect(next.map(answerOf).sort(), "in a new thread, or a new process and an old one").toEqual(["1", "2"]);
  },
  40_000,
);

test.each(["thread", "pool"])("the end of a trajectory aborts its agent: %s", async (mode) => {
  const ending = new AbortController();
  const settled = runAll({ mode }, ["wait 60000"], ending.signal);
  setTimeout(() => ending.abort(new Error("over")), 500);
  expect(reasonOf((await settled)[0])).toBe("over");
});

test.each(["thread", "pool"])(
  "the failure of a module with a syntax error names the module: %s",
  async (mode) => {
    const broken = join(folder, `broken-${mode}.ts`);
    writeFileSync(broken, "export default async () => {;\n");
    const [settled] = await runAll({ mode, module: broken }, ["ask"]);
    expect(reasonOf(settled)).toContain(`${broken} can't be loaded: `);
    expect(reasonOf(settled)).toContain("SyntaxError");
  },
);

test.each(["thread", "pool"])(
  "the time that a module takes to load is none of a trajectory's: %s",
  async (mode) => {
    const slow = join(folder, `slow-${mode}.ts`);
    writeFileSync(
      slow,
      'await new Promise((resolve) => setTimeout(resolve, 4000));\nexport default async () => "there";\n',
    );
    const [settled] = await runAll({ mode, module: slow, timeout: 3 }, ["ask"]);
    expect(answerOf(settled)).toBe("there");
  },
);

test.each(["thread", "pool"])("a module that never loads is given up: %s", async (mode) => {
  host = openHost({ silence: 30_000, leftover: 30_000, loading: 500 });
  const endless = join(folder, `endless-${mode}.ts`);
  writeFileSync(endless, "setInterval(() => {}, 1000);\nawait new Promise(() => {});\n");
  const [settled] = await runAll({ mode, module: endless, attempts: 1 }, ["ask"]);
  expect(reasonOf(settled)).toContain(`${endless} can't be loaded: importing it took longer than 0.5 s`);
});

test("a module that no thread can load names the mode that can", async () => {
  const native = join(folder, "native.ts");
  writeFileSync(native, 'process.chdir("/");\nexport default async () => "there";\n');
  const [settled] = await runAll({ mode: "thread", module: native }, ["ask"]);
  expect(reasonOf(settled)).toContain(`${native} can't be loaded: `);
  expect(reasonOf(settled)).toContain("set `mode: pool` or `mode: process`");
  await host?.close();
  host = undefined;
  const [pool] = await runAll({ mode: "pool", module: native }, ["ask"]);
  expect(answerOf(pool)).toBe("there");
});

test.each(["process", "pool", "thread"])("an agent receives its settings: %s", async (mode) => {
  const module = join(folder, "settings.ts");
  writeFileSync(module, "export default async ({ settings }) => JSON.stringify(settings);\n");
  const settings = { address: "a b", deep: { list: [1, null] } };
  const [settled] = await runAll({ mode, module, settings }, ["ask"]);
  expect(JSON.parse(answerOf(settled))).toEqual(settings);
});

test("failing agents pause their host", async () => {
  const pauses: string[] = [];
  const limits = { failures: 2, pause: 100, longestPause: 100, patience: 300 };
  const service = createToolHost(
    "service",
    limits,
    ({ state, reason }) => void pauses.push(`${state}: ${reason}`),
  );
  const settled = await runAll(
    { mode: "pool", attempts: 1 },
    ["nothing", "nothing", "nothing"],
    undefined,
    service,
  );
  service.breaker.close();
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(pauses[0]).toMatch(/^paused: it threw Error: no behavior nothing/);
});

test.each([
  [{ command: ["node"] }, "its configuration has both “command”, which starts the agent, and “module”"],
  [{ mode: "thread", folder: "/" }, "a thread has no working directory of its own"],
])(
  "settings of another loop that exclude each other are refused when it starts: %j",
  async (config, reason) => {
    const [settled] = await runAll(config, ["ask"]);
    expect(reasonOf(settled)).toContain(reason);
  },
);
