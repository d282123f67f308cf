import { execFile, execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lastLine } from "../support/command.ts";
import { type Registry, serveRegistry } from "../support/registry.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..");
const place = realpathSync(temporaryFolder());
const [packages, packed] = [join(place, "dist"), join(place, "packed")];
/** Milliseconds: on busy cores an installation takes minutes. */
const patience = 600_000;
let registry: Registry;

beforeAll(async () => {
  execFileSync(process.execPath, [join(root, "scripts", "build.ts"), packages]);
  mkdirSync(packed);
  const folders = readdirSync(packages).map((name) => join(packages, name));
  execFileSync("npm", ["pack", "--silent", ...folders, "--pack-destination", packed]);
  registry = await serveRegistry(readdirSync(packed).map((file) => join(packed, file)));
}, patience);
afterAll(() => registry?.close());

test("every package is small, and what its package.json names is there for Node and for TypeScript", async () => {
  for (const name of readdirSync(packages)) {
    const { messages, pkg } = await publint({ pkgDir: join(packages, name), strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    const files = readdirSync(join(packages, name), { recursive: true, encoding: "utf8" });
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  }
  for (const file of readdirSync(packed)) {
    expect(statSync(join(packed, file)).size).toBeLessThan(2_000_000);
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(join(packed, file))));
    const found = analysis.types === false ? ["no types"] : analysis.problems;
    expect(found.filter(concernsModules)).toEqual([]);
  }
});

/** Everturn is ESM alone: that CommonJS can't import it is known. */
function concernsModules(problem: Problem | string): boolean {
  if (typeof problem === "string" || !("resolutionKind" in problem)) return true;
  return problem.resolutionKind === "node16-esm" || problem.resolutionKind === "bundler";
}

test(
  "npm installs it into an empty project, where it trains with a tool of the project's own",
  async () => {
    const project = newProject("with-npm");
    await project.run("npm", "install", "everturn");
    expect(await project.everturn("validate", "small.yaml")).toContain("small.yaml is valid");
    const { run } = lastLine<{ run: string }>(await project.everturn("run", "small.yaml", "--json"));
    expect(await project.everturn("resume", run, "--set", "steps=2")).toContain("step 2/2");
    const { stages, findings } = lastLine<Ledger>(await project.everturn("ledger", run, "--json"));
    const steps = stages.filter(({ stage }) => stage.startsWith("step-"));
    expect(steps.map(({ trained }) => trained)).toEqual([8, 8]);
    expect(findings).toEqual([]);
  },
  patience,
);

test(
  "so does pnpm, which shows a project only what it asked for",
  async () => {
    const project = newProject("with-pnpm");
    await project.run(
      process.execPath,
      join(root, "node_modules", "pnpm", "bin", "pnpm.cjs"),
      "add",
      "everturn",
    );
    const outcome = lastLine<{ outcome: string }>(await project.everturn("run", "small.yaml", "--json"));
    expect(outcome).toMatchObject({ steps: 1 });
  },
  patience,
);

interface Ledger {
  stages: { stage: string; trained: number }[];
  findings: unknown[];
}

/** An empty folder with a pipeline and a tool, as a user would begin: only this registry, nothing of this repository's. */
function newProject(name: string) {
  const folder = join(place, name);
  const tool = join(folder, "plugins", "tool-length");
  mkdirSync(tool, { recursive: true });
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write("package.json", JSON.stringify({ name, private: true, type: "module" }));
  write(".npmrc", `registry=${registry.url}\nonnxruntime-node-install=skip\n`);
  // Of the scripts of dependencies none is needed; pnpm wants to be told.
  write("pnpm-workspace.yaml", `allowBuilds: ${JSON.stringify(scripts)}\n`);
  write("small.yaml", pipeline());
  copyFileSync(join(root, "tests/fixtures/tool-demonstrations.jsonl"), join(folder, "demonstrations.jsonl"));
  write("plugins/tool-length/everturn.plugin.json", JSON.stringify(lengthManifest));
  write("plugins/tool-length/index.ts", lengthTool);
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^(npm_|pnpm_|INIT_CWD|VITEST|NODE_ENV|NODE_OPTIONS)/i.test(key),
  );
  const env = {
    ...Object.fromEntries(inherited),
    PATH: [dirname(process.execPath), ...path].join(delimiter),
  };
  // Not synchronously: the registry is served by this process.
  const run = async (command: string, ...parameters: string[]) =>
    (await promisify(execFile)(command, parameters, { cwd: folder, env, timeout: patience })).stdout;
  return { run, everturn: (...parameters: string[]) => run("npx", "--no", "everturn", ...parameters) };
}

function pipeline(): string {
  return readFileSync(join(root, "tests", "pipelines", "small.yaml"), "utf8")
    .replaceAll("../../pipelines", "./node_modules/everturn/pipelines")
    .replace("../fixtures/tool-demonstrations.jsonl", "./demonstrations.jsonl")
    .replace("- plugin: tool-calculator", "- plugin: tool-calculator\n  - plugin: tool-length")
    .replace(/^steps: 3$/m, "steps: 1")
    .replace("steps: 60", "steps: 5")
    .replace("batchSize: 16, maxActionTokens: 40", "batchSize: 8, maxActionTokens: 40");
}

const scripts = { "@swc/core": false, koffi: false, "onnxruntime-node": false, protobufjs: false };

const lengthManifest = {
  name: "tool-length",
  kind: "tool",
  version: "0.1.0",
  engines: { everturn: "*" },
  entry: "./index.ts",
  tool: {
    name: "length",
    description: "Converts kilometres to metres.",
    parameters: { type: "object", properties: { kilometres: { type: "number" } } },
  },
};

const lengthTool = `import { readText, type ToolPlugin } from "everturn/plugin";

const length: ToolPlugin = {
  execute({ kilometres }: { kilometres?: unknown }) {
    return { text: String(Number(kilometres) * 1000 + readText.length * 0) };
  },
};

export default length;
`;
