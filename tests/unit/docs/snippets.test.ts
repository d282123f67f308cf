import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Command, CommanderError } from "commander";
import { load } from "js-yaml";
import { beforeAll, expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { addStoreOptions } from "../../../src/apps/cli/terminal/store-option.ts";
import { projectFiles } from "../../../src/apps/init/project-files.ts";
import { parseJson } from "../../../src/base/validation/parse-json.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { readDemonstrations } from "../../../src/plan/pipeline/read/demonstrations.ts";
import { readPreferences } from "../../../src/plan/pipeline/read/preferences.ts";
import { rowToolsReader } from "../../../src/plan/pipeline/read/row-tools.ts";
import { parseTasks } from "../../../src/plan/tasks/parse-tasks.ts";
import { checkManifestDocument } from "../../../src/plugin/registry/manifest.ts";
import { readStudy } from "../../../src/results/studies/read-study.ts";
import { pages, pageText, type Snippet, snippetsOf } from "../../support/doc-snippets.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const place = realpathSync(temporaryFolder());
const snippets = pages.flatMap(snippetsOf);
const of = (...languages: string[]) =>
  snippets.filter((one) => languages.includes(one.language) && !(nameOf(one) in unchecked));

/** What no test here can check, by page and first line, and why. */
const unchecked: Record<string, string> = {
  "docs/engines.md: steps: 0": "a part of a pipeline, with another policy than the test's",
  "docs/sampling.md: policy:": "names a model of the reader's",
  "docs/choosing.md: policy:": "names a model of the reader's",
  "docs/choosing.md: policy: { plugin: policy-onnx, config: { model: ./models/fir":
    "names a model of the reader's",
  "docs/models.md: policy:": "names a model of the reader's",
  "docs/gpu.md: policy:": "names a model of the reader's",
  "docs/engines.md: policy:": "names a model and servers of the reader's",
  "docs/deploy.md: # my-values.yaml": "values of the Helm chart: tests/deploy checks such",
  "docs/deploy.md: # pool.yaml": "values of the Helm chart: tests/deploy checks such",
  "docs/tinker.md: policy:": "names a model and a server of the reader's",
  "docs/tinker.md: trainer:": "needs a key of the reader's, whose server is asked for its models",
  "docs/algorithms.md: const { batch, settings } = JSON.parse(await readFile(file, ":
    "an excerpt: the model and its version are the reader's",
  "docs/algorithms.md: trainer: { plugin: trainer-onnx, config: { freezeVisionTower":
    "needs a policy that reads images: tests/unit/engine/vision/trained-vision.test.ts",
  'docs/errors.md: {"error": {"code": "RUN_NOT_FOUND", "message": "There is no ': "shortened with …",
  "docs/parquet.md: -- Does the tool pay? Mean reward of trained trajectories, b":
    "SQL for DuckDB, which tests have not",
  "docs/pipelines.md: # larger.yaml, next to pipeline.yaml": "overrides a pipeline of the reader's",
  "docs/pipelines.md: name: ${RUN_NAME:-calculator}":
    "is read as text: tests/unit/plan/pipeline/read-extended.test.ts",
  "docs/environments.md: # The server's code is in ./server.": "starts a server of the reader's",
  "docs/parquet.md: import pandas as pd": "Python, of which no test of this kind has pandas",
};

/** What comes before the excerpts of a page, which import nothing themselves. */
const before: Record<string, string> = {
  "docs/library.md": 'import { openRun } from "everturn";\nconst run = await openRun("runs/some");\n',
};

/** Plugins that pages name and do not show, by the folder that they would be in. */
const imagined: Record<string, object> = {
  "plugins/tool-python": tool("python"),
  "plugins/tool-files": tool("files"),
  "tool-shell": tool("shell"),
  "my-loss": { kind: "loss", config: { type: "object", properties: { positive: {}, negative: {} } } },
};

function tool(name: string): object {
  return { kind: "tool", tool: { name, description: name, parameters: { type: "object", properties: {} } } };
}

/** Commands of others, which stand in pages as they are written there. */
const others = new Set([
  "cd",
  "mkdir",
  "echo",
  "head",
  "for",
  "jq",
  "split",
  "docker",
  "export",
  "uv",
  "temporal",
  "vllm",
  "python",
  "chgrp",
  "cp",
  "helm",
  "kubectl",
]);

function nameOf({ page, text }: Snippet): string {
  return `${page}: ${text.trim().split("\n")[0]?.slice(0, 60)}`;
}

/** The folder of a page's files. */
function folderOf(page: string): string {
  return join(place, page.replaceAll(/\W/g, "-"));
}

function fileOf({ page, line, file, language }: Snippet): string {
  return join(folderOf(page), file ?? `snippet-${line}.${language}`);
}

beforeAll(() => {
  for (const page of pages) {
    mkdirSync(folderOf(page));
    symlinkSync(join(root, "node_modules"), join(folderOf(page), "node_modules"));
  }
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  for (const [path, text] of projectFiles("tool", "shop")) write(join(folderOf("README.md"), path), text);
  for (const snippet of of("ts", "yaml", "json")) {
    const isExcerpt = snippet.language === "ts" && !snippet.text.includes("import ");
    write(fileOf(snippet), (isExcerpt ? (before[snippet.page] ?? "") : "") + snippet.text);
  }
  for (const page of pages) {
    for (const [path, said] of Object.entries(imagined)) {
      const name = path.split("/").at(-1) ?? "";
      if (!pageText(page).includes(`plugin: ${path === name ? "./" : ""}${name}`)) continue;
      const manifest = { name, version: "1.0.0", engines: { everturn: "*" }, entry: "./index.js", ...said };
      write(join(folderOf(page), path, "everturn.plugin.json"), JSON.stringify(manifest));
      const isTool = "tool" in said;
      write(
        join(folderOf(page), path, "index.js"),
        `export default ${isTool ? "{ execute() {} }" : "() => {}"};`,
      );
    }
  }
  for (const [page, script] of makers) execFileSync(process.execPath, [join(folderOf(page), script)]);
});

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Scripts of pages that make their data. */
const makers: [page: string, script: string][] = [["docs/tutorial.md", "data/make.ts"]];

test("each block is of a kind that is checked, or says why it can't be", () => {
  const told = snippets.filter(
    ({ language }) => !["yaml", "ts", "json", "sh", "console", ""].includes(language),
  );
  expect(told.map(nameOf).filter((name) => !(name in unchecked))).toEqual([]);
  expect(Object.keys(unchecked).filter((name) => !snippets.some((one) => nameOf(one) === name))).toEqual([]);
});

test("a block without a language is output or a picture: it holds no command", () => {
  const commands = snippets.filter(
    ({ language, text }) => language === "" && /^(npx|npm|everturn|node) /m.test(text),
  );
  expect(commands.map(nameOf)).toEqual([]);
});

test.each(of("yaml").map((snippet) => [nameOf(snippet), snippet] as const))(
  "the pipeline of %s is valid",
  async (_, snippet) => {
    const folder = folderOf(snippet.page);
    const written = Object(load(snippet.text));
    if ("jobs" in written) {
      const study = `${fileOf(snippet)}.study.yaml`;
      writeFileSync(study, snippet.text);
      const pipeline = join(folder, "pipeline.yaml");
      if (!existsSync(pipeline)) writeFileSync(pipeline, JSON.stringify(wholePipeline()));
      expect(Object.keys(readStudy(study).jobs)).toEqual(Object.keys(written.jobs));
      return;
    }
    const pipeline =
      "policy" in written ? written : { ...wholePipeline("environment" in written), ...written };
    for (const [, path = "", ending = ""] of JSON.stringify(pipeline).matchAll(
      /"(\.\/[^"]+\.(jsonl|parquet|csv))"/g,
    )) {
      const file = join(folder, path);
      if (!existsSync(file)) writeFileSync(file, dataOf(snippet.page, path, ending));
    }
    for (const [, tasks = ""] of JSON.stringify(pipeline).matchAll(/"tasks":"(\.\/[^".]+)"/g))
      cpSync(join(root, "pipelines", "harbor", "held-out"), join(folder, tasks), { recursive: true });
    const file = `${fileOf(snippet)}.whole.yaml`;
    writeFileSync(file, "policy" in written ? snippet.text : JSON.stringify(pipeline));
    await expect(loadPlan(file)).resolves.toMatchObject({ steps: expect.any(Number) });
  },
);

/** What a page leaves out of a pipeline of which it shows a part. An environment has tasks, tools and a reward. */
function wholePipeline(hasEnvironment = false): object {
  const tasks = { plugin: "dataset-jsonl", config: { path: "./tasks.jsonl" } };
  const tokenizer = join(root, "pipelines", "calculator", "tokenizer");
  const architecture = {
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 32,
    max_position_embeddings: 1024,
  };
  const policy = { plugin: "policy-onnx", config: { tokenizer, architecture } };
  const part = { name: "part", steps: 20, policy, trainer: "trainer-onnx" };
  if (hasEnvironment) return part;
  return {
    ...part,
    dataset: { train: tasks, validation: tasks },
    tools: ["tool-calculator"],
    loop: "loop-tool-agent",
    reward: "reward-exact-match",
  };
}

/** Data that a pipeline of a page names. */
function dataOf(page: string, path: string, ending: string): string | Buffer {
  if (path === "./mixed.jsonl") {
    const row: object = JSON.parse(rowOf(page, "reward_model"));
    return ["openai/gsm8k", "math"]
      .map((data_source) => `${JSON.stringify({ ...row, data_source })}\n`)
      .join("");
  }
  if (/demonstration|pairs/.test(path)) {
    return `${rowOf(page, /pairs/.test(path) ? "chosen" : "messages").trim()}\n`.repeat(200);
  }
  if (ending === "jsonl") return rowOf(page, "reward_model");
  const sums = Array.from({ length: 100 }, (_, at) => `${at} + 1?,${at + 1}\n`);
  if (ending === "csv") return `question,answer\n${sums.join("")}`;
  return readFileSync(join(root, "tests", "fixtures", "verl-parquet", "gsm8k.parquet"));
}

/** The row of this kind that a page shows, or docs/data.md if it shows none. */
function rowOf(page: string, key: string): string {
  const rows = [...snippetsOf(page), ...snippetsOf("docs/data.md")].filter(
    ({ language }) => language === "json",
  );
  const row = rows.find(({ text }) => key in JSON.parse(text));
  if (row === undefined) throw new Error(`No row with ${key}.`);
  return row.text;
}

test("TypeScript is right in strict mode, by the public entries", () => {
  const files = of("ts").map(fileOf);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    module: "NodeNext",
    target: "ESNext",
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
  };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = join(root, "node_modules", "typescript-7", "bin", "tsc");
  const parameters = [compiler, "--project", place, "--pretty", "false", "--listFiles"];
  const { stdout } = spawnSync(process.execPath, parameters, { cwd: place, encoding: "utf8" });
  const told = stdout.trim().split("\n");
  expect(told).toEqual(expect.arrayContaining(files));
  // What they import is checked by `npm run check`.
  expect(told.filter((line) => line.includes("error TS") && !line.startsWith(".."))).toEqual([]);
  const imports = of("ts").flatMap(({ text }) =>
    [...text.matchAll(/from "(everturn[^"]*)"/g)].map(([, name]) => name),
  );
  const entries = Object.keys(packageJson.exports).map((name) => join("everturn", name));
  expect(imports.filter((name) => !entries.includes(name ?? ""))).toEqual([]);
});

test("README shows the tool, the reward and the pipeline of `everturn init`", async () => {
  const shown = new Map(snippetsOf("README.md").map(({ file, text }) => [file, text]));
  const project = projectFiles("tool", "shop");
  for (const path of ["tools/price.ts", "rewards/right-price.ts"])
    expect(shown.get(path)).toBe(`// ${path}\n${project.get(path)}`);
  const shownPlan = await loadPlan(join(folderOf("README.md"), "pipeline.yaml"));
  const copy = join(folderOf("README.md"), "written.yaml");
  write(copy, project.get("pipeline.yaml") ?? "");
  expect(shownPlan).toEqual({ ...(await loadPlan(copy)), pipelineFile: shownPlan.pipelineFile });
});

test.each([
  ["README.md", "tools/price.ts", { item: "664" }, 10],
  ["docs/tools.md", "tools/length.ts", { value: 3, from: "km", to: "m" }, 3000],
  ["docs/tools.md", "tools/rounded.ts", { kilometers: 3 }, "3000.00"],
  ["docs/tools.md", "plugins/tool-length/index.ts", { value: 3, from: "km", to: "m" }, { text: "3000" }],
  ["docs/tutorial.md", "tools/departure.ts", { line: "107" }, "06:29"],
  [
    "docs/tutorial.md",
    "tools/departure.ts",
    { line: "1" },
    { text: "error: there is no bus 1", error: true },
  ],
])("the tool of %s, %s, called with %o", async (page, file, parameters, answer) => {
  const { default: loaded } = await import(join(folderOf(page), file));
  expect(await loaded.execute(parameters, { config: { digits: 2 } })).toEqual(answer);
});

const parts = { right: 1, brief: 1, failedCalls: 0 };

test.each([
  [
    "docs/rewards.md",
    "rewards/near.ts",
    "41.5",
    "42",
    { reward: 0.5, success: false, metrics: { off: 0.5 } },
  ],
  ["docs/rewards.md", "rewards/near.ts", "about 42", "42", { reward: 0, success: false }],
  ["docs/rewards.md", "rewards/parts.ts", "It is 42.", "42", { reward: 1.5, success: true, metrics: parts }],
  ["docs/rewards.md", "rewards/tidy.ts", "It is 42.", "42", { reward: 1, success: true, turns: [] }],
  ["docs/rewards.md", "plugins/reward-shouted/index.ts", "YES", "", { reward: 1, success: true }],
  [
    "docs/tutorial.md",
    "rewards/on-time.ts",
    "At 06:29",
    "06:29",
    { reward: 1, success: true, metrics: { lookups: 0 } },
  ],
])("the reward of %s, %s, of the answer %o", async (page, file, answer, ground_truth, score) => {
  const { default: reward } = await import(join(folderOf(page), file));
  const request = { answer, outcome: "answered", turns: [], task: { reward_model: { ground_truth } } };
  expect(await reward.score({ ...request, config: { brevity: 0.5 } })).toEqual(score);
});

test("JSON is a task, a demonstration or a manifest, and right", async () => {
  for (const { page, line, text } of of("json")) {
    const where = `${page}:${line}`;
    const value: object = JSON.parse(text);
    const file = join(place, "row.jsonl");
    writeFileSync(file, text);
    if ("messages" in value) expect(await readDemonstrations(file, rowToolsReader()), where).toHaveLength(1);
    else if ("chosen" in value) expect(await readPreferences(file), where).toHaveLength(1);
    else if ("prompt" in value) expect(parseTasks(text, where)).toHaveLength(1);
    else if ("kind" in value) {
      const { document } = parseJson(text, where);
      if (document === undefined) throw new Error(where);
      expect(checkManifestDocument(document, where).problems).toEqual([]);
    } else expect(Object.keys(value), where).toContain("name"); // a package.json
  }
});

/** The command line with every command, which does nothing. */
async function commandLine(): Promise<Command> {
  const cli = join(root, "src", "apps", "cli", "commands");
  const program = new Command("everturn")
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} });
  for (const name of readdirSync(cli).filter((one) => one.endsWith(".ts"))) {
    const [, register] = /^export function (register\w+)/m.exec(readFileSync(join(cli, name), "utf8")) ?? [];
    if (register !== undefined) (await import(join(cli, name)))[register](program);
  }
  addStoreOptions(program);
  const still = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => {});
    command.commands.forEach(still);
  };
  still(program);
  return program;
}

/** The lines of shell blocks, of a console those after its prompt, each as its words, without comments, variables, npx and what becomes of the output. */
function commandsOf({ text, language }: Snippet): string[][] {
  const typed = language === "console" ? (text.match(/(?<=^\$ ).*$/gm) ?? []).join("\n") : text;
  const lines = typed
    .replaceAll(/\\\n\s*/g, " ")
    .replaceAll(/(^|\s)#.*$/gm, "")
    .split("\n");
  return lines
    .map((line) =>
      [...line.matchAll(/"[^"]*"|'[^']*'|[^\s"']+/g)].map(([word]) => word.replaceAll(/^["']|["']$/g, "")),
    )
    .map((words) => words.slice(0, words.findIndex((word) => /^[|>]/.test(word)) >>> 0))
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word) && word !== "npx")))
    .filter((words) => words.length > 0);
}

test("every command of a shell block is one, with its options", async () => {
  const program = await commandLine();
  const wrong: string[] = [];
  for (const snippet of of("sh", "console")) {
    for (const words of commandsOf(snippet)) {
      const reason = await complaint(words, snippet.page);
      if (reason !== undefined) wrong.push(`${snippet.page}:${snippet.line}: ${words.join(" ")}: ${reason}`);
    }
  }
  expect(wrong).toEqual([]);

  async function complaint([command = "", ...rest]: string[], page: string): Promise<string | undefined> {
    if (command === "everturn") return refusal(rest);
    if (command === "node") {
      const there = [root, folderOf(page)].some((folder) => existsSync(join(folder, rest[0] ?? "")));
      return there ? undefined : "no such file";
    }
    if (command !== "npm") return others.has(command) ? undefined : "unknown command";
    const [verb, script = ""] = rest;
    if (verb !== "run") return undefined;
    const scripts = [
      packageJson,
      ...of("json")
        .filter((one) => one.page === page)
        .map(({ text }) => JSON.parse(text)),
    ];
    return scripts.some((one) => script in Object(one.scripts)) ? undefined : "no such script";
  }

  async function refusal(words: string[]): Promise<string | undefined> {
    try {
      await program.parseAsync(words, { from: "user" });
      return undefined;
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      return error.message;
    }
  }
});

test("every command that a page names in its text is one, with its options", async () => {
  const program = await commandLine();
  const known = new Map(program.commands.map((command) => [command.name(), command]));
  const wrong: string[] = [];
  for (const page of pages.filter((one) => one !== "docs/errors.md")) {
    for (const [, name = "", rest = ""] of pageText(page).matchAll(/`(?:npx )?everturn ([a-z]+)([^`]*)`/g)) {
      const command = known.get(name);
      const options = [command, ...(command?.commands ?? [])].flatMap((one) => one?.options ?? []);
      const unknown = [...rest.matchAll(/--[\w-]+/g)]
        .map(([flag]) => flag)
        .filter((flag) => !options.some(({ long }) => long === flag));
      if (command === undefined || unknown.length > 0) wrong.push(`${page}: everturn ${name}${rest}`);
    }
  }
  expect(wrong).toEqual([]);
});
