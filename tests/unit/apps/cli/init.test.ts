import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import packageJson from "../../../../package.json" with { type: "json" };
import policy from "../../../../plugins/policy-onnx/index.ts";
import policyTinker from "../../../../plugins/policy-tinker/package.json" with { type: "json" };
import trainerTinker from "../../../../plugins/trainer-tinker/package.json" with { type: "json" };
import { registerInit } from "../../../../src/apps/cli/commands/init.ts";
import { registerValidate } from "../../../../src/apps/cli/commands/validate.ts";
import { projectFiles, type Template } from "../../../../src/apps/init/project-files.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

afterEach(() => vi.unstubAllEnvs());

const clone = join(import.meta.dirname, "..", "..", "..", "..");
const init = (...parameters: string[]) => runCommand(registerInit, "init", ...parameters);
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? entry.name : [],
  );

test.each(["tool", "agent", "loop", "library", "tinker"] as const)(
  "`everturn init --template %s` writes a project whose pipeline is valid, and says what it wrote",
  async (template) => {
    const folder = join(temporaryFolder(), "My Shop_1");
    const written = await init(folder, "--template", template);
    const lines = written.split("\n").map((line) => line.trim());
    const listed = ["pipeline.yaml", "tools/price.ts", ".gitignore", ".npmrc", ".vscode/settings.json"];
    expect(lines).toEqual(expect.arrayContaining([...listed, `cd ${folder}`, "npm install", "npm test"]));
    expect(lines.filter((line) => existsSync(join(folder, line)) && line !== "")).toHaveLength(
      filesIn(folder).length,
    );
    const project = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(project).toMatchObject({
      name: "my-shop-1",
      dependencies: { everturn: `^${packageJson.version}` },
      scripts: { start: template === "library" ? "node train.ts" : "everturn run pipeline.yaml" },
    });
    // Instead of `npm install`.
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(clone, join(folder, "node_modules", "everturn"));
    for (const name of ["ai", "zod"])
      symlinkSync(join(clone, "node_modules", name), join(folder, "node_modules", name));
    if (template === "tinker") {
      // Instead of `npm run base`.
      const { config } = (await loadPlan(join(folder, "base.yaml"))).policy;
      await policy.initialize(join(folder, "base"), config, 1);
    }
    const nowhere = ["policy", "trainer"].flatMap((part) => [
      "--set",
      `${part}.config.url=http://127.0.0.1:1`,
    ]);
    const sets = template === "tinker" ? nowhere : [];
    const validated = await runCommand(registerValidate, "validate", join(folder, "pipeline.yaml"), ...sets);
    expect(validated).toContain("pipeline.yaml is valid");
  },
);

test("it names the commands of the package manager that runs it", async () => {
  vi.stubEnv("npm_config_user_agent", "pnpm/10.34.9 npm/? node/v24.21.0 linux x64");
  expect(await init(join(temporaryFolder(), "shop"))).toContain("\n  pnpm install\n  pnpm start ");
});

test("it never overwrites: it names all that is in the way, and writes nothing", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "tools"), "not a folder");
  const before = readdirSync(folder);
  await expect(init(folder)).rejects.toMatchObject({
    code: "FILES_IN_THE_WAY",
    params: { folder, files: "package.json, tools" },
  });
  expect(readdirSync(folder)).toEqual(before);
  expect(readFileSync(join(folder, "package.json"), "utf8")).toBe("{}");
});

test("what is not in the way stays beside it", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "tools"));
  writeFileSync(join(folder, "tools", "mine.ts"), "export {};\n");
  await init(folder);
  expect(readdirSync(join(folder, "tools"))).toEqual(["mine.ts", "price.ts"]);
});

test("a template that there isn't is refused with those that there are", async () => {
  const folder = temporaryFolder();
  await expect(init(folder, "--template", "shop")).rejects.toThrow(
    "Allowed choices are tool, agent, loop, library, tinker.",
  );
  expect(readdirSync(folder)).toEqual([]);
});

test("the data of the templates is what their script makes", () => {
  const folder = temporaryFolder();
  const data = join(clone, "templates", "tool", "data");
  copyFileSync(join(data, "make.ts"), join(folder, "make.ts"));
  execFileSync(process.execPath, [join(folder, "make.ts")]);
  expect(readdirSync(folder)).toEqual(readdirSync(data));
  for (const name of readdirSync(data))
    expect(readFileSync(join(folder, name), "utf8"), name).toBe(readFileSync(join(data, name), "utf8"));
  const ofAgent = join(clone, "templates", "agent", "data", "prices.json");
  expect(readFileSync(ofAgent, "utf8")).toBe(readFileSync(join(data, "prices.json"), "utf8"));
});

test("an agent's project has the versions of the AI SDK and of zod that are tested here", () => {
  const { dependencies } = JSON.parse(projectFiles("agent", "shop").get("package.json") ?? "");
  const { "@ai-sdk/openai-compatible": provider, ai, zod } = packageJson.devDependencies;
  expect(dependencies).toEqual({
    "@ai-sdk/openai-compatible": provider,
    ai,
    everturn: `^${packageJson.version}`,
    zod: `^${zod}`,
  });
});

test("a project for a training server has its plugins, a script for its base model, and says what to do", async () => {
  const { dependencies, scripts } = JSON.parse(projectFiles("tinker", "shop").get("package.json") ?? "");
  expect(dependencies).toEqual({
    "@everturn/policy-tinker": `^${policyTinker.version}`,
    "@everturn/trainer-tinker": `^${trainerTinker.version}`,
    everturn: `^${packageJson.version}`,
  });
  expect(scripts.base).toBe("everturn study base-study.yaml");
  const written = await init(join(temporaryFolder(), "shop"), "--template", "tinker");
  expect(written).toMatch(/ {2}npm install\n {2}npm run base .*\n {2}npm start .*server as README\.md shows/);
});

test("the pipelines of the templates differ by their loop, and an agent's by its own tool", () => {
  const lines = (template: Template) =>
    projectFiles(template, "shop").get("pipeline.yaml")?.split("\n") ?? [];
  const tool = lines("tool");
  expect(lines("loop").filter((line) => !tool.includes(line))).toEqual(["loop: ./loops/one-look.ts"]);
  expect(lines("library")).toEqual(tool);
  const agents = lines("agent").filter((line) => !tool.includes(line) && !line.startsWith("#"));
  expect(agents.map((line) => line.split(":")[0])).toEqual(["tools", "loop"]);
  const served = lines("tinker").filter((line) => /^\S+:/.test(line) && !tool.includes(line));
  expect(served.map((line) => line.split(":")[0])).toEqual(["rollout"]);
});
