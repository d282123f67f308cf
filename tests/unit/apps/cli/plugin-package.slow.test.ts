import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { fileOf, workspace } from "../../plan/pipeline/workspace.ts";
import { folder, plugin, root } from "./new-packages.ts";

/** A compiler that takes this clone for an installed Everturn: its TypeScript is held to its own options. */
function asInstalled(name: string): void {
  const path = join(folder, name, "tsconfig.json");
  const options = JSON.parse(readFileSync(path, "utf8"));
  const own = {
    exactOptionalPropertyTypes: true,
    lib: ["ES2024", "DOM", "DOM.Iterable"],
    noImplicitReturns: true,
    resolveJsonModule: true,
  };
  Object.assign(options.compilerOptions, { preserveSymlinks: true, ...own });
  writeFileSync(path, JSON.stringify(options));
}

test("a new tool's package is built, keeps its promises, and is named by a pipeline that it is installed for", async () => {
  expect(await plugin("", "new", "tool", "@acme/way-length")).toContain("Next: cd tool-way-length");
  expect(await plugin("", "new", "tool", "way-length")).toContain("TARGET_NOT_EMPTY");
  expect(await plugin("", "new", "tool", "Way")).toContain("is not a valid plugin name");
  asInstalled("tool-way-length");
  expect(await plugin("tool-way-length", "check")).toContain("has no everturn.plugin.json");
  expect(await plugin("tool-way-length", "build")).toBe("everturn.plugin.json is written\n");
  const home = join(folder, "tool-way-length");
  expect(JSON.parse(readFileSync(join(home, "everturn.plugin.json"), "utf8"))).toMatchObject({
    name: "tool-way-length",
    kind: "tool",
    version: "0.1.0",
    entry: "./dist/index.js",
    tool: { name: "way_length", parameters: { required: ["value", "from", "to"] } },
  });
  expect(readFileSync(join(home, "dist", "index.d.ts"), "utf8")).toContain("ToolPlugin");
  expect(await plugin("tool-way-length", "check")).toContain("keeps 13 of 13 promises");

  const pipeline = fileOf("pipeline.yaml").replace(
    /tools:[\s\S]*(?=loop:)/,
    'tools: ["@acme/tool-way-length"]\n',
  );
  const project = workspace({ "pipeline.yaml": pipeline });
  const installed = join(project, "node_modules", "@acme", "tool-way-length");
  for (const file of ["package.json", "dist", "everturn.plugin.json"])
    cpSync(join(home, file), join(installed, file), { recursive: true });
  symlinkSync(root, join(project, "node_modules", "everturn"));
  const { tools } = await loadPlan(join(project, "pipeline.yaml"));
  expect(tools).toMatchObject([
    { name: "tool-way-length", folder: installed, entry: join(installed, "dist/index.js") },
  ]);

  const source = join(home, "src", "index.ts");
  writeFileSync(source, readFileSync(source, "utf8").replace("String((", "String(Nothing + ("));
  expect(await plugin("tool-way-length", "build")).toMatch(
    /PLUGIN_BUILD_FAILED: .*\n.*Cannot find name 'Nothing'/,
  );
  rmSync(join(folder, "node_modules", "typescript"));
  expect(await plugin("tool-way-length", "build")).toContain("npm install --save-dev typescript@6");
  expect(existsSync(join(home, "tests", "promises.test.ts"))).toBe(true);
});
