import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { registerTools } from "../../../../src/apps/cli/commands/tools.ts";
import type { Task } from "../../../../src/contracts/generated/task.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { toolDefinitions } from "../../../../src/plan/pipeline/resolve/tool-definitions.ts";
import { toolKwargs } from "../../../../src/plan/tasks/tool-kwargs.ts";
import { importTools } from "../../../../src/plugin/import-verl/import-tools.ts";
import { snippetsOf } from "../../../support/doc-snippets.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "../../apps/cli/run-command.ts";
import { fileOf, workspace } from "../../plan/pipeline/workspace.ts";

/** A file of verl's form, and what it names beside it. */
function fileWith(yaml: string, files: Record<string, string> = {}): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries({ "tools.yaml": yaml, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return join(folder, "tools.yaml");
}

const imported = (yaml: string, classes: Record<string, string> = {}, files?: Record<string, string>) =>
  importTools(fileWith(yaml, files), new Map(Object.entries(classes)));

/** An entry, written as verl's examples are. */
function entry(className: string, config: string, name: string, property: string): string {
  return `  - class_name: "${className}"
    config:
      type: native
${config.replaceAll(/^/gm, "      ")}
    tool_schema:
      type: "function"
      function:
        name: "${name}"
        description: "Does ${name}."
        parameters:
          type: "object"
          properties:
            ${property}
          required: [${property.split(":")[0]}]
`;
}

const search = entry(
  "verl.tools.search_tool.SearchTool",
  "retrieval_service_url: http://127.0.0.1:8000/retrieve\nnum_workers: 120\nrate_limit: 60\ntimeout: 20",
  "wiki",
  "query_list: { type: array, item: { type: string } }",
);
const fusion = entry(
  "verl.tools.sandbox_fusion_tools.SandboxFusionTool",
  "sandbox_fusion_url: https://sandbox.example/run_code\ndefault_timeout: 5\nmemory_limit_mb: 256\nenable_global_rate_limit: false\ncolour: red",
  "code_interpreter",
  'code: { type: string, description: "What is run." }',
);
const zoom = entry(
  "verl.tools.image_zoom_in_tool.ImageZoomInTool",
  "num_workers: 4",
  "image_zoom_in_tool",
  "bbox_2d: { type: array, items: { type: number }, minItems: 4, maxItems: 4 }",
);
const gsm8k = entry("verl.tools.gsm8k_tool.Gsm8kTool", "", "calc_gsm8k_reward", "answer: { type: string }");

test("verl's own classes become tools of a pipeline that can be planned, and comments say what is otherwise", async () => {
  const text = imported(`tools:\n${search}${fusion}${zoom}`);
  expect(text.match(/#.*/g)).toEqual([
    "# verl.tools.search_tool.SearchTool",
    "# The policy sees tool-search's arguments (query) instead of verl's (query_list).",
    "# verl.tools.sandbox_fusion_tools.SandboxFusionTool",
    "# Not taken from its config: colour.",
    "# verl.tools.image_zoom_in_tool.ImageZoomInTool",
    "# A task's images are its column images, or tools_kwargs.image_zoom_in_tool.create_kwargs.image; set config.folder if they are paths.",
  ]);
  const plan = await planned(text);
  expect(plan.tools).toMatchObject([
    {
      name: "tool-search",
      config: { url: "http://127.0.0.1:8000/retrieve", topk: 3 },
      timeout: 20_000,
      concurrency: 60,
    },
    {
      name: "tool-code",
      config: {
        sandbox: { kind: "sandbox-fusion", url: "https://sandbox.example" },
        keep: false,
        language: "python",
        time: 5,
        memory: 256,
      },
    },
    { name: "tool-image", concurrency: 4 },
  ]);
  expect(toolDefinitions(plan).map(({ name, description }) => [name, description])).toEqual([
    ["wiki", "Does wiki."],
    ["code_interpreter", "Does code_interpreter."],
    ["image_zoom_in_tool", "Does image_zoom_in_tool."],
  ]);
});

/** The plan of a pipeline with the tools that were written. */
async function planned(tools: string, files: Record<string, string> = {}) {
  const pipeline = fileOf("pipeline.yaml").replace(/tools:[\s\S]*(?=loop:)/, tools);
  const folder = workspace({ "pipeline.yaml": pipeline, "package.json": '{ "type": "module" }', ...files });
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(join(import.meta.dirname, "..", "..", "..", ".."), join(folder, "node_modules", "everturn"));
  return loadPlan(join(folder, "pipeline.yaml"));
}

test("what a class of one's own is like, or the tool that is it, is said by --map", async () => {
  const own = gsm8k.replace("type: native", "type: native\n      rounds: 3");
  const wiki = search.replace("verl.tools.search_tool.SearchTool", "my.Wiki");
  const text = await runCommand(
    registerTools,
    "tools",
    "import",
    fileWith(`tools:\n${own}${wiki}`),
    "--map",
    "verl.tools.gsm8k_tool.Gsm8kTool=./tools/gsm8k.ts",
    "--map",
    "my.Wiki=verl.tools.search_tool.SearchTool",
  );
  expect(text).toContain("plugin: tool-search");
  expect(text).toContain("rounds: 3");
  const plan = await planned(text.replace(/ +config:\n +rounds: 3\n/, ""), { "tools/gsm8k.ts": documented });
  expect(toolDefinitions(plan)[0]).toMatchObject({
    name: "calc_gsm8k_reward",
    description: "Does calc_gsm8k_reward.",
  });
});

const [documented = ""] = snippetsOf("docs/tools.md").flatMap(({ file, text }) =>
  file === "tools/gsm8k.ts" ? [text] : [],
);

test("what a row has for a tool arrives there: the tool that docs/tools.md shows", async () => {
  const folder = workspace({ "package.json": '{ "type": "module" }', "tools/gsm8k.ts": documented });
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(join(import.meta.dirname, "..", "..", "..", ".."), join(folder, "node_modules", "everturn"));
  const kwargs = { create_kwargs: { ground_truth: "1234" }, execute_kwargs: { penalty: 0.25 } };
  const lines = await runCommand(
    registerTools,
    "tools",
    "try",
    join(folder, "tools", "gsm8k.ts"),
    "--json",
    "--task",
    JSON.stringify({ extra_info: { tools_kwargs: { calc_gsm8k_reward: kwargs } } }),
    '{"answer": "12"}',
    '{"answer": "1,234"}',
    '{"answer": "1234"}',
  );
  const told = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(told).toMatchObject([
    { text: "Current parsed answer='12' reward=0", reward: -0.25 },
    { text: "Current parsed answer='1,234' reward=1" },
    { text: "Current parsed answer='1234' reward=1", reward: -0.25 },
  ]);
  expect(told[1].reward ?? 0).toBe(0);
});

test("a row without arguments for a tool, or with others than objects, has none", () => {
  const none = { create_kwargs: {}, execute_kwargs: {}, calc_reward_kwargs: {}, release_kwargs: {} };
  const task: Task = {
    data_source: "t",
    prompt: [{ role: "user", content: "?" }],
    reward_model: { ground_truth: "1" },
  };
  expect(toolKwargs(task, "search")).toEqual(none);
  const tools_kwargs = {
    search: { create_kwargs: [1], execute_kwargs: null, release_kwargs: { now: true } },
  };
  expect(toolKwargs({ ...task, extra_info: { tools_kwargs } }, "search")).toEqual({
    ...none,
    release_kwargs: { now: true },
  });
  for (const name of ["toString", "constructor"])
    expect(toolKwargs({ ...task, extra_info: { tools_kwargs } }, name)).toEqual(none);
});

const mcp = `tools:
  - class_name: verl.tools.mcp_search_tool.MCPSearchTool
    config: { type: mcp, rate_limit: 20, timeout: 60 }
    mcp:
      mcp_servers_config_path: ./servers.json
      tool_selected_list: [find]
`;

test("each server of an MCP entry is a tool, and what is secret stays where it is", () => {
  const servers = {
    "My Search": { url: "https://mcp.example/mcp", auth_token: "s3cret", headers: { "X-Team": "s3cret" } },
  };
  const text = imported(mcp, {}, { "servers.json": JSON.stringify({ mcpServers: servers }) });
  expect(text).toMatchInlineSnapshot(`
    "tools:
      # verl.tools.mcp_search_tool.MCPSearchTool
      # Set the environment variable MY_SEARCH_AUTHORIZATION to the header Authorization: Bearer and the auth_token.
      # Set the environment variable MY_SEARCH_X_TEAM to the header X-Team.
      # What verl.tools.mcp_search_tool.MCPSearchTool makes of an answer is not taken over: the policy reads the server's text. All trajectories share a session: verl opens one for each call.
      - plugin: tool-mcp
        name: My_Search
        functions:
          - find
        config:
          url: https://mcp.example/mcp
          secretHeaders:
            Authorization: MY_SEARCH_AUTHORIZATION
            X-Team: MY_SEARCH_X_TEAM
          shared: true
        timeout: 60s
        rate: 20/s
    "
  `);
  const local = { files: { command: "npx", args: ["server", "/data"], env: { KEY: "s3cret" }, cwd: "/srv" } };
  const both = imported(
    mcp,
    {},
    { "servers.json": JSON.stringify({ mcpServers: { ...servers, ...local } }) },
  );
  expect(both).toContain("name: My_Search");
  expect(both).toContain("command: npx");
  expect(both).toContain("Set the environment variables KEY.");
  expect(both).not.toContain("    functions:");
  expect(both + text).not.toContain("s3cret");
});

const refusalOf = (
  yaml: string,
  classes?: Record<string, string>,
  files?: Record<string, string>,
): string => {
  try {
    return `accepted: ${imported(yaml, classes, files)}`;
  } catch (error) {
    return String(Object(error).message);
  }
};

test("what has no counterpart is refused with its place and what to do, all of it at once", () => {
  const wrong = fusion.replace("default_timeout: 5", "default_timeout: -5");
  const text = refusalOf(`tools:\n${gsm8k}${wrong}`);
  expect(text).toContain("tools.yaml:2:17: tools[0].class_name names verl.tools.gsm8k_tool.Gsm8kTool");
  expect(text).toContain("--map verl.tools.gsm8k_tool.Gsm8kTool=./tools/mine.ts");
  expect(text).toContain("tools[1].config.default_timeout is not a number above 0");
});

test.each([
  ["nothing", "", "the file must be a mapping of keys to values"],
  ["no list", "tools: 3", "tools"],
  ["a missing class", "tools:\n  - config: {}\n", "class_name"],
  ["a class that is none", "tools:\n  - { class_name: 'a b', config: {} }\n", "class_name"],
  [
    "OmegaConf's references",
    `tools:\n${search.replace("20", ["$", "{oc.env:T}"].join(""))}`,
    "only OmegaConf resolves",
  ],
  [
    "a search without a server",
    `tools:\n${search.replace("http://127.0.0.1:8000/retrieve", "''")}`,
    "has no retrieval_service_url",
  ],
  [
    "a language that is not run",
    `tools:\n${fusion.replace("colour: red", "default_language: cobol")}`,
    "“cobol”, which tool-code does not run",
  ],
  [
    "MCP without servers",
    "tools:\n  - { class_name: a.B, config: { type: mcp } }\n",
    "has no mcp.mcp_servers_config_path",
  ],
  ["servers that are not there", mcp, "servers.json"],
  ["a prototype's name", "tools:\n  - { class_name: toString, config: {} }\n", "names toString"],
])("%s is refused: it says what is wrong", (_, yaml, reason) => {
  expect(refusalOf(yaml)).toContain(reason);
});

test("servers that are none are refused, and classes that the file has not", async () => {
  for (const servers of [
    "{}",
    '{"mcpServers": {}}',
    '{"mcpServers": {"a": 1}}',
    "[",
    '{"mcpServers": {"a": {}}}',
  ])
    expect(refusalOf(mcp, {}, { "servers.json": servers })).toMatch(/servers\.json|without url or command/);
  expect(refusalOf(`tools:\n${search}`, { "my.Wki": "./x.ts" })).toContain("has no class my.Wki");
  await expect(runCommand(registerTools, "tools", "import", "x.yaml", "--map", "nothing")).rejects.toThrow(
    "is not CLASS=PLUGIN",
  );
});
