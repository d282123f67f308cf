import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { PluginCase } from "everturn/testing";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import { byStdio } from "../../tests/support/mcp-servers.ts";

/** How a package is tried: by the conformance kit, and in trajectories. */
export interface Trial {
  config?: JsonObject;
  cases?: PluginCase[];
  /** Of a tool: a call that the policy makes, `function` by the name that the policy knows. */
  call?: { name: string; arguments: JsonObject };
  /** Columns of the tasks that it is tried with. */
  task?: Partial<Task>;
  /** Of a tool: which of its functions the policy is told of. */
  functions?: string[];
  /** Of a reward: what the task expects; the policy answers what `answer` says. Default: 42. */
  groundTruth?: string;
}

/** What the policy answers in the end: something for each reward. */
export const answer = "```python\ndef double(x): return 2 * x\n```\nIt is \\boxed{42}. <answer>42</answer>";

const chinook = join(import.meta.dirname, "..", "..", "pipelines", "chinook-sql", "chinook.sqlite");
const both = (right: string, wrong: string, groundTruth: string): PluginCase[] => [
  { answer: right, groundTruth, reward: 1, success: true },
  { answer: wrong, groundTruth, reward: 0, success: false },
];

/**
 * The packages' trials; the row of one that is not among them says that it was not tried.
 * `folder` is for files; `url` is a server that says 1 and 10 points of whatever has 42 in it; `tools` one that speaks verl-tool's protocol.
 */
export function trials(folder: string, url: string, tools: string): Record<string, Trial> {
  const corpus = join(folder, "passages.jsonl");
  writeFileSync(corpus, '{"contents": "Paris\\nThe capital of France."}\n');
  const doubling = JSON.stringify({ test_list: ["assert double(2) == 4", "assert double(0) == 0"] });
  const printing = JSON.stringify({ commands: [{ command: "cat a.txt", stdout: "42" }] });
  return {
    "tool-ask": {}, // in a trajectory a person would have to answer
    "tool-browser": {
      config: { archive: join(import.meta.dirname, "..", "..", "tests", "fixtures", "browser", "shop.har") },
      cases: [
        { function: "open", arguments: { url: "http://shop.example/lamp/1" }, error: false },
        { function: "click", arguments: { number: 2 }, error: false },
        { function: "find", arguments: { text: "lamp 42" }, text: '[44] link "Lamp 42" → /lamp/42' },
        { function: "open", arguments: { url: "http://elsewhere.example/" }, invalid: true },
        { function: "back", arguments: {}, error: false },
      ],
      functions: ["open"],
      call: { name: "open", arguments: { url: "http://shop.example/lamp/1" } },
    },
    "tool-calculator": {
      cases: [{ arguments: { expression: "6 * 7" }, text: "42" }],
      call: { name: "calculator", arguments: { expression: "6 * 7" } },
    },
    "tool-code": {
      config: { time: 5 },
      cases: [
        { arguments: { code: "print('six'); 6 * 7" }, text: "six\n42", error: false },
        { arguments: { code: "import os; os._exit(3)" }, error: true },
      ],
      call: { name: "code", arguments: { code: "6 * 7" } },
    },
    "tool-finish": {
      cases: [{ arguments: { answer: "42" }, text: "42", done: true }],
      call: { name: "finish", arguments: { answer } },
    },
    "tool-http": {
      config: {
        functions: {
          points: {
            description: "How good an answer is.",
            url,
            parameters: { type: "object", required: ["answer"], properties: { answer: { type: "string" } } },
            observation: "reward",
          },
        },
      },
      cases: [{ function: "points", arguments: { answer: "42" }, text: "1", error: false }],
      call: { name: "points", arguments: { answer: "42" } },
    },
    "tool-image": {
      task: {
        images: [
          "data:image/gif;base64,R0lGODlhKAAoAIAAAExpcQAAACH5BAUAAAAALAAAAAAoACgAAAInjI+py+0Po5y02ouz3rz7D4biSJbmiabqyrbuC8fyTNf2jef6ziMFADs=",
        ],
      },
      cases: [
        {
          function: "zoom",
          arguments: { bbox_2d: [0, 0, 1, 1], label: "sign" },
          text: "Zoomed in on image 1 to the region [0, 0, 40, 40] with label sign.\n[image 2: 40×40 png]",
        },
        { function: "rotate", arguments: { angle: 90, image: 2 }, error: false },
        { function: "crop", arguments: { bbox_2d: [0, 0, 1, 1], image: 9 }, error: true },
      ],
      functions: ["zoom", "rotate"],
      call: { name: "zoom", arguments: { bbox_2d: [0.5, 0.5, 1, 1] } },
    },
    "tool-mcp": {
      config: { ...byStdio, shared: true },
      cases: [
        { function: "echo", arguments: { message: "a" }, text: "Echo: a", error: false },
        { function: "get-sum", arguments: { a: 1, b: 2 }, text: "The sum of 1 and 2 is 3." },
      ],
      functions: ["echo"],
      call: { name: "echo", arguments: { message: "6 * 7" } },
    },
    "tool-search": {
      config: { corpus },
      cases: [{ arguments: { query: "capital" }, text: "Doc 1 (Title: Paris): The capital of France." }],
      call: { name: "search", arguments: { query: "capital" } },
    },
    "tool-simulated-user": {
      config: { url, model: "user" },
      cases: [{ arguments: { said: "42" }, error: false }],
      call: { name: "user", arguments: { said: "It is 42." } },
    },
    "tool-sql": {
      config: { database: chinook, limits: { seconds: 25 } },
      cases: [{ arguments: { query: "SELECT count(*) AS n FROM Genre" } }],
      call: { name: "sql", arguments: { query: "SELECT count(*) FROM Genre" } },
    },
    "tool-verl-tool": {
      config: { url: tools, action: "<calculator>{action}</calculator>" },
      cases: [{ function: "act", arguments: { action: "6 * 7" }, text: "\n<result>\n42\n</result>\n" }],
      call: { name: "act", arguments: { action: "6 * 7" } },
    },
    "tool-workspace": {
      cases: [
        { function: "create", arguments: { path: "a.txt", text: "one\n" }, text: "wrote a.txt" },
        { function: "run", arguments: { command: "echo two >> a.txt" }, error: false },
        { function: "view", arguments: { path: "../a.txt" }, error: true },
      ],
      functions: ["run"],
      call: { name: "run", arguments: { command: "echo 42 > a.txt; cat a.txt" } },
    },
    "reward-code-tests": {
      config: { time: 5 },
      cases: both("def double(x): return 2 * x", "def double(x): return 1", doubling),
      groundTruth: doubling,
    },
    "reward-exact-match": { config: { extract: "last-number" }, cases: both("It is 42.", "41", "42") },
    "reward-format": {
      config: { tags: ["answer"] },
      cases: both("<answer>42</answer>", "42", "42"),
    },
    "reward-function-calls": {
      cases: both("[f(a=42)]", "[f(a=41)]", '[{"f": {"a": [42]}}]'),
    },
    "reward-group-rank": { config: { by: "exact-match" } },
    "reward-http": { config: { url }, cases: both("42", "41", "42") },
    "reward-llm-judge": {
      config: { url, model: "judge", rubric: "10: it is 42.", cache: join(folder, "judged") },
      cases: both("42", "41", "42"),
    },
    "reward-math": { cases: both("\\boxed{42}", "\\boxed{41}", "42") },
    "reward-qa": { cases: both("<answer>The 42.</answer>", "42", "42") },
    "reward-sql-execution": {
      config: { database: chinook, query: "last-call", limits: { seconds: 25 } },
      cases: [{ answer: "SELECT count(*) FROM Genre", groundTruth: "SELECT 25", reward: 0, success: false }],
      groundTruth: "SELECT 25",
    },
    "reward-tests-pass": {
      config: { time: 20 },
      cases: [
        { answer: "", groundTruth: printing, snapshots: { workspace: '[["a.txt", "NDIK"]]' }, reward: 1 },
        { answer: "", groundTruth: printing, snapshots: { workspace: "[]" }, reward: 0 },
      ],
      groundTruth: printing,
    },
    "reward-tool-use": { cases: [{ answer: "42", reward: 0 }] },
  };
}

/** A server of rewards, and one that judges as an OpenAI-compatible endpoint would: 42 is right. */
export async function rewardServer(): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const right = JSON.stringify(await json(request)).match(/"answer\\?":\\?"[^"]*42/) !== null;
    const content = JSON.stringify({ reason: "as the rubric says", points: right ? 10 : 0 });
    const said = request.url?.endsWith("/chat/completions")
      ? {
          id: "1",
          object: "chat.completion",
          choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
        }
      : { reward: right ? 1 : 0 };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
