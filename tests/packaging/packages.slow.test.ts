import { execFile, execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { lastLine } from "../support/command.ts";
import { snippetsOf } from "../support/doc-snippets.ts";
import { type Registry, serveRegistry } from "../support/registry.ts";
import { storedRecord } from "../support/stored-record.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TinkerServer } from "../support/tinker-server.ts";

const root = join(import.meta.dirname, "..", "..");
const place = realpathSync(temporaryFolder());
const [packages, packed] = [join(place, "dist"), join(place, "packed")];
/** What makes `npm start` of a new project shorter, and leaves it enough to learn its task: none is answered rightly after the warm start, all are in the end. */
const learning = [
  "steps=1",
  "warmStart.steps=220",
  "evaluation.tasks=20",
  "trainer.config.learningRate=1e-3",
  "trainer.config.threads=1",
];
const set = (values: readonly string[]) => values.map((value) => `--set ${value}`).join(" ");
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
    const files = readdirSync(join(packages, name), { recursive: true, encoding: "utf8" });
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
    const own = files.filter((file) => !/^(templates|pipelines)\b/.test(file));
    expect(own.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  }
  for (const file of readdirSync(packed)) {
    const content = new Uint8Array(readFileSync(join(packed, file)));
    expect(content.length).toBeLessThan(3_800_000);
    const { messages, pkg } = await publint({ pack: { tarball: content.buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(content));
    const found = analysis.types === false ? ["no types"] : analysis.problems;
    expect(found.filter(concernsModules)).toEqual([]);
  }
});

test("every link of every page in the packages leads somewhere", () => {
  const folders = readdirSync(packed).map((file) => {
    const folder = join(place, "extracted", file);
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["-xzf", join(packed, file), "-C", folder]);
    return join(folder, "package");
  });
  const report = execFileSync(process.execPath, [join(root, "scripts", "check-links.ts"), ...folders], {
    encoding: "utf8",
  });
  expect(report).toMatch(/^0 dead links in \d{3} pages of \d+ packages$/m);
});

/** Everturn is ESM alone: that CommonJS can't import it is known. */
function concernsModules(problem: Problem | string): boolean {
  if (typeof problem === "string" || !("resolutionKind" in problem)) return true;
  return problem.resolutionKind === "node16-esm" || problem.resolutionKind === "bundler";
}

test(
  "npm: README's first commands make a project that trains to a policy which calls its tool; so do the others in it",
  async () => {
    const project = newProject("with-npm");
    const shop = project.in("shop");
    const [init, inside] = block("npx everturn init shop").split("cd shop\n");
    await project.shell(init!);
    // npm need not unpack again what npx has just unpacked for itself.
    for (const installed of readdirSync(join(npmCache(), "_npx")))
      renameSync(join(npmCache(), "_npx", installed, "node_modules"), join(shop.folder, "node_modules"));
    const start = inside!.replace("npm start", `$& -- ${set(learning)}`);
    expect(start).toContain("npm install\nnpm start -- --set");
    await shop.shell(start);
    expect(await shop.run("npm", "test")).toMatch(/\d+ passed/);
    const run = onlyRun(join(shop.folder, "runs"));
    const [built, , trained, ...others] = evaluations(run);
    expect(others).toEqual([]);
    expect(built).toMatchObject({ step: 0, accuracy: 0, tasks: 20 });
    expect(trained).toMatchObject({ step: 1, tasks: 20 });
    expect(trained!.accuracy).toBeGreaterThan(0.6);
    expect(trained!.toolCallRate).toBeGreaterThan(0.8);
    await shop.run("npm", "run", "check");
    await shop.run("npm", "run", "schema", "--silent");
    const { stages, findings } = lastLine<Ledger>(await shop.run("npx", "everturn", "ledger", run, "--json"));
    const steps = stages.filter(({ stage }) => stage.startsWith("step-"));
    expect(steps.map((step) => step.trained)).toEqual([64]);
    expect(findings).toEqual([]);

    // A folder in it finds what the project has installed.
    await shop.run("npx", "everturn", "init", "library", "--template", "library");
    await shop.run("npm", "run", "schema", "--silent", "--prefix", "library");
    expect(await shop.run("npx", "everturn", "validate", "library/pipeline.yaml")).toContain("is valid");

    // The package of a plugin is written, published (which builds it), installed, and named by the pipeline.
    await shop.shell(block("npx everturn plugin new tool @acme/weather", "docs/plugins.md"));
    await shop.in("tool-weather").run("npm", "publish");
    await shop.shell(
      block("npm pkg set type=module", "docs/install.md").replace(
        "npm install everturn",
        "$& @acme/tool-weather",
      ),
    );
    const pipeline = join(shop.folder, "pipeline.yaml");
    const both = readFileSync(pipeline, "utf8").replace("tools: [", '$&"@acme/tool-weather", ');
    writeFileSync(pipeline, both);
    const sizes = ["steps=1", "warmStart.steps=2", "rollout.batchSize=4", "evaluation.tasks=1"];
    const sets = set([...sizes, "trainer.config.minibatchSize=4", "trainer.config.threads=1"]);
    const said = await shop.shell(`npx everturn validate pipeline.yaml\nnpm start -- ${sets}`);
    expect(said).toContain("pipeline.yaml is valid");
    expect(said).toMatch(/# Tools\n\s+weather\(/);
    const id = newestRun(join(shop.folder, "runs"));
    const looked = await shop.shell(
      block("npx everturn trajectories RUN").replaceAll("RUN", id).replace("steps=12", "steps=2"),
    );
    expect(looked).toMatch(/^accuracy 0 % on 100 tasks, policy version 2$/m);
    expect(looked).toContain("step 2/2");
    expect(existsSync(join(shop.folder, "out", "policy", "config.json"))).toBe(true);
    const gguf = join(root, "tests", "fixtures", "gguf", "llama3.gguf");
    copyFileSync(gguf, join(shop.folder, "some-model.Q4_K_M.gguf"));
    await shop.run("npx", "everturn", "import", "some-model.Q4_K_M.gguf", "models/some-model");
    expect(existsSync(join(shop.folder, "models", "some-model", "config.json"))).toBe(true);
    for (const usage of ["ledger RUN", "versions RUN newest", "prune RUN --dry-run", "report RUN"])
      await shop.shell(`npx everturn ${usage.replace("RUN", id)}`);
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
    expect(await pnpm("exec", "everturn", "validate", "pipeline.yaml")).toContain("pipeline.yaml is valid");
    // The script of the third template trains it.
    copyFileSync(join(root, "templates", "library", "train.ts"), join(project.folder, "train.ts"));
    const pipeline = join(project.folder, "pipeline.yaml");
    const shorter = readFileSync(pipeline, "utf8")
      .replace("steps: 10", "steps: 1")
      .replace("steps: 400", "steps: 5")
      .replace("batchSize: 64", "batchSize: 8")
      .replace("minibatchSize: 32", "minibatchSize: 8\n    threads: 1")
      .replace("tasks: 100", "tasks: 4");
    writeFileSync(pipeline, shorter);
    expect(await pnpm("exec", "node", "train.ts")).toMatch(/^held-out accuracy: 0 % → \d+ %$/m);
    const [, , trained] = evaluations(onlyRun(join(project.folder, "runs")));
    expect(trained).toMatchObject({ step: 1, tasks: 4 });
    expect(await pnpm("test")).toMatch(/\d+ passed/);
  },
  patience,
);

test(
  "@everturn/tinker: the first program of its README runs in an empty project, with nothing else installed",
  async () => {
    const server = await new TinkerServer({ numbering: "skyrl", baseModel: "Qwen/Qwen3-8B" }).start();
    onTestFinished(() => server.stop());
    const project = newProject("with-tinker");
    await project.shell("npm init --yes && npm pkg set type=module && npm install @everturn/tinker");
    const installed = readdirSync(join(project.folder, "node_modules"), {
      recursive: true,
      encoding: "utf8",
    });
    expect(installed.filter((path) => path.endsWith("package.json"))).toEqual([
      "@everturn/tinker/package.json",
    ]);
    const readme = readFileSync(join(project.folder, "node_modules/@everturn/tinker/README.md"), "utf8");
    writeFileSync(join(project.folder, "first.ts"), /```ts\n(import .*?)```/s.exec(readme)?.[1] ?? "");
    const printed = await project.shell(`TINKER_BASE_URL=${server.url} TINKER_API_KEY=key node first.ts`);
    expect(printed).toMatch(/Float32Array\(3\)/);
    expect(server.steps).toHaveLength(1);
  },
  patience,
);

test("every shell block of README is run above", () => {
  const blocks = snippetsOf("README.md").filter(({ language }) => language === "sh");
  expect(blocks.map(({ text }) => text).filter((text) => !takenBlocks.has(text))).toEqual([]);
});

/** The shell blocks that tests above have taken from pages. */
const takenBlocks = new Set<string>();

/** The shell block of a page that begins so. */
function block(first: string, page = "README.md"): string {
  const [found, ...others] = snippetsOf(page).filter(
    ({ language, text }) => language === "sh" && text.startsWith(first),
  );
  if (found === undefined || others.length > 0)
    throw new Error(`${page} has not one block that begins with ${first}`);
  takenBlocks.add(found.text);
  return found.text;
}

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

function newestRun(runs: string): string {
  return (
    readdirSync(runs)
      .toSorted(
        (one, other) => statSync(join(runs, one)).birthtimeMs - statSync(join(runs, other)).birthtimeMs,
      )
      .at(-1) ?? ""
  );
}

/** A run's evaluations, in their order. */
function evaluations(run: string): Evaluation[] {
  const folder = join(run, "evaluations");
  const files = readdirSync(folder).sort();
  return files.map((file) => storedRecord<Evaluation>(join(folder, file)));
}

interface Project {
  folder: string;
  /** Runs a command in it; what that writes. */
  run(command: string, ...parameters: string[]): Promise<string>;
  /** The same of a block of commands, each of which must end well. */
  shell(script: string): Promise<string>;
  /** A folder of it. */
  in(name: string): Project;
}

/** An empty folder, as a user would begin: only Node and this registry, nothing of this repository's. */
function newProject(name: string): Project {
  const folder = join(place, name);
  mkdirSync(folder);
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^(npm_|pnpm_|INIT_CWD|VITEST|NODE_ENV)/i.test(key),
  );
  const env = {
    ...Object.fromEntries(inherited),
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    npm_config_registry: registry.url,
    npm_config_cache: npmCache(),
    npm_config_yes: "true", // what a person answers whom npx asks
    [`npm_config_${registry.url.replace("http:", "")}:_authToken`]: "anybody",
  };
  return at(folder);

  function at(cwd: string): Project {
    // Where Everturn is installed npx starts it from there; without npx's own start each of the many commands takes half the time.
    const npx = () => (existsSync(join(cwd, "node_modules")) ? 'npx() { node_modules/.bin/"$@"; }\n' : "");
    // Not synchronously: the registry is served by this process.
    const run = async (command: string, ...parameters: string[]) =>
      (await promisify(execFile)(command, parameters, { cwd, env, timeout: patience })).stdout;
    return {
      folder: cwd,
      run,
      shell: (script) => run("sh", "-ec", npx() + script),
      in: (subfolder) => at(join(cwd, subfolder)),
    };
  }
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
