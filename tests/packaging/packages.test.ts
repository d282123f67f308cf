import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
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
import { storedRecord } from "../support/stored-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..");
const place = realpathSync(temporaryFolder());
const [packages, packed] = [join(place, "dist"), join(place, "packed")];
/** Milliseconds: on busy cores installing and training take many minutes. */
const patience = 1_200_000;
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
    const own = files.filter((file) => !file.startsWith("templates"));
    expect(own.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
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
  "npm: an initialised project trains to a policy that calls its tool, is tested, resumed and checked",
  async () => {
    const project = newProject("with-npm");
    expect(await project.run("npx", "--yes", "everturn", "init")).toContain("  npm start ");
    await project.run("npm", "install");
    await project.run("npm", "start");
    const run = onlyRun(join(project.folder, "runs"));
    const [built, , trained, ...others] = evaluations(run);
    expect(others).toEqual([]);
    expect(built).toMatchObject({ step: 0, accuracy: 0, tasks: 100 });
    expect(trained).toMatchObject({ step: 10, tasks: 100 });
    expect(trained!.accuracy).toBeGreaterThan(0.6);
    expect(trained!.toolCallRate).toBeGreaterThan(0.8);
    expect(await project.run("npm", "test")).toMatch(/\d+ passed/);
    await project.run("npm", "run", "check");
    await project.run("npm", "run", "schema", "--silent");
    expect(await project.everturn("validate", "pipeline.yaml")).toContain("pipeline.yaml is valid");
    expect(await project.everturn("resume", run, "--set", "steps=11")).toContain("step 11/11");
    const { stages, findings } = lastLine<Ledger>(await project.everturn("ledger", run, "--json"));
    const steps = stages.filter(({ stage }) => stage.startsWith("step-"));
    expect(steps.map(({ trained }) => trained)).toEqual(new Array(11).fill(64));
    expect(findings).toEqual([]);

    // A folder in it finds what the project has installed.
    await project.everturn("init", "library", "--template", "library");
    const pipeline = join(project.folder, "library", "pipeline.yaml");
    const short = readFileSync(pipeline, "utf8")
      .replace("steps: 10", "steps: 1")
      .replace("steps: 400", "steps: 5")
      .replace("tasks: 100", "tasks: 10");
    writeFileSync(pipeline, short);
    expect(await project.run("npm", "start", "--prefix", "library")).toMatch(
      /^held-out accuracy: 0 % → \d+ %$/m,
    );
  },
  patience,
);

test(
  "pnpm, which shows a project only what it asked for: so does one with an agent loop of its own",
  async () => {
    const project = newProject("with-pnpm");
    const pnpm = (...parameters: string[]) =>
      project.run(process.execPath, join(root, "node_modules", "pnpm", "bin", "pnpm.cjs"), ...parameters);
    expect(await pnpm("dlx", "everturn", "init", "--template", "loop")).toContain("  pnpm start ");
    await pnpm("install");
    await pnpm("start", "--set", "steps=1", "--set", "warmStart.steps=5", "--set", "evaluation.tasks=10");
    const [, , trained] = evaluations(onlyRun(join(project.folder, "runs")));
    expect(trained).toMatchObject({ step: 1, tasks: 10 });
    expect(await pnpm("test")).toMatch(/\d+ passed/);
  },
  patience,
);

interface Ledger {
  stages: { stage: string; trained: number }[];
  findings: unknown[];
}

interface Evaluation {
  step: number;
  accuracy: number;
  tasks: number;
  toolCallRate: number;
}

function onlyRun(runs: string): string {
  const [run, ...others] = readdirSync(runs);
  expect(others).toEqual([]);
  return join(runs, run ?? "");
}

/** A run's evaluations, in their order. */
function evaluations(run: string): Evaluation[] {
  const folder = join(run, "evaluations");
  const files = readdirSync(folder).sort();
  return files.map((file) => storedRecord<Evaluation>(join(folder, file)));
}

/** An empty folder, as a user would begin: only Node and this registry, nothing of this repository's. */
function newProject(name: string) {
  const folder = join(place, name);
  mkdirSync(folder);
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^(npm_|pnpm_|INIT_CWD|VITEST|NODE_ENV|NODE_OPTIONS)/i.test(key),
  );
  const env = {
    ...Object.fromEntries(inherited),
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    npm_config_registry: registry.url,
    npm_config_cache: npmCache(),
  };
  // Not synchronously: the registry is served by this process.
  const run = async (command: string, ...parameters: string[]) =>
    (await promisify(execFile)(command, parameters, { cwd: folder, env, timeout: patience })).stdout;
  return {
    folder,
    run,
    everturn: (...parameters: string[]) => run("npx", "--no", "everturn", ...parameters),
  };
}

/** npm's cache of what it fetched, but none of what npx has installed: that would be the packages of an earlier test. */
function npmCache(): string {
  const kept = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
  const cache = join(place, "npm-cache");
  if (existsSync(cache)) return cache;
  mkdirSync(cache);
  mkdirSync(join(kept, "_cacache"), { recursive: true });
  symlinkSync(join(kept, "_cacache"), join(cache, "_cacache"));
  return cache;
}
