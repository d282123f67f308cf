import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { changed, fileOf, refused, workspace } from "./workspace.ts";

const folder = "node_modules/@acme/tool-lookup";
const manifest = fileOf("plugins/tool-test/everturn.plugin.json");

/** An installed package with the tool of the workspace, under another name than the tool's own. */
function installed(written = manifest, at = folder, name = "@acme/tool-lookup"): Record<string, string> {
  return {
    [`${at}/package.json`]: JSON.stringify({ name, version: "1.2.3" }),
    [`${at}/everturn.plugin.json`]: written,
    [`${at}/index.js`]: "export default { execute() {} };",
  };
}

/** A pipeline whose tool this is. */
function naming(reference: string): Record<string, string> {
  return changed("pipeline.yaml", "plugin: tool-calculator", `plugin: "${reference}"`);
}

const renamed = manifest.replace('"tool-test"', '"tool-lookup"');

test("an installed plugin is named by its package or by its manifest; the plan has both names", async () => {
  for (const reference of ["@acme/tool-lookup", "tool-lookup"]) {
    const root = workspace({ ...installed(renamed), ...naming(reference) });
    const { tools } = await loadPlan(join(root, "pipeline.yaml"));
    const found = { name: "tool-lookup", package: "@acme/tool-lookup", folder: join(root, folder) };
    expect(tools).toEqual([expect.objectContaining(found)]);
  }
});

test("one that comes with Everturn is named by its package, too", async () => {
  const root = workspace(naming("@everturn/tool-calculator"));
  const { tools, rewards } = await loadPlan(join(root, "pipeline.yaml"));
  expect(tools).toEqual([expect.objectContaining({ package: "@everturn/tool-calculator" })]);
  expect(rewards).toEqual([expect.objectContaining({ package: "@everturn/reward-exact-match" })]);
});

test("a name that is one plugin's and another's package is refused with both", async () => {
  const files = installed(renamed, "node_modules/tool-test", "tool-test");
  expect(await refused({ ...files, ...naming("tool-test") })).toContain(
    "pipeline.yaml:11:13: two plugins are named “tool-test”: node_modules/tool-test (tool-lookup of the package tool-test) and plugins/tool-test.",
  );
});

test("a package whose manifest has another name is told by both where the name is wrong", async () => {
  const told = await refused({ ...installed(renamed), ...naming("@acme/tool-lookups") });
  expect(told).toContain("there is no plugin “@acme/tool-lookups”. Did you mean “@acme/tool-lookup”?");
  const wrongKind = await refused({
    ...installed(renamed),
    ...changed("pipeline.yaml", "plugin: reward-exact-match", 'plugin: "@acme/tool-lookup"'),
  });
  expect(wrongKind).toContain(
    "reward needs a reward plugin, but tool-lookup of the package @acme/tool-lookup",
  );
});

test("a package that is no plugin, and one that is not installed, are told apart", async () => {
  const { [`${folder}/everturn.plugin.json`]: _, ...bare } = installed();
  expect(await refused({ ...bare, ...naming("@acme/tool-lookup") })).toContain(
    "there is no plugin “@acme/tool-lookup”. The package is installed in node_modules/@acme/tool-lookup, but has no everturn.plugin.json.",
  );
  expect(await refused(naming("@acme/tool-other"))).toContain(
    "No package of this name is installed: `npm install @acme/tool-other`.",
  );
});

test("a package's name without quotes is told what YAML wants", async () => {
  const bare = changed("pipeline.yaml", "plugin: tool-calculator", "plugin: @acme/tool-lookup");
  expect(await refused(bare)).toContain("in quotes");
});
