import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contracts/json.ts";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { namedPlugins } from "../../../../src/plan/pipeline/resolve/named-plugins.ts";
import { discoverPlugins } from "../../../../src/plugin/registry/discover.ts";
import { changed, fileOf, refused, workspace } from "../../plan/pipeline/workspace.ts";

const manifest = "plugins/trainer-test/everturn.plugin.json";
const alias = {
  name: "trainer-sgd",
  preset: { optimizer: "sgd" },
  config: { properties: { minibatchSize: { default: 2 }, learningRate: { maximum: 1 } } },
};

/** The workspace's trainer with these aliases. */
function withAliases(...aliases: JsonObject[]): Record<string, string> {
  return { [manifest]: JSON.stringify({ ...JSON.parse(fileOf(manifest)), aliases }) };
}

/** A pipeline whose trainer is `name`, with this learning rate and further options. */
function training(name: string, rate = "1e-4"): Record<string, string> {
  const named = changed("pipeline.yaml", "plugin: trainer-test", `plugin: "${name}"`);
  return { "pipeline.yaml": (named["pipeline.yaml"] ?? "").replace("1e-4", () => rate) };
}

async function trainerOf(files: Record<string, string>) {
  return (await loadPlan(join(workspace(files), "pipeline.yaml"))).trainer;
}

test("an alias is a plugin of its own name with what the alias presets and its own defaults", async () => {
  const trainer = await trainerOf({ ...withAliases(alias), ...training("trainer-sgd") });
  expect(trainer).toMatchObject({
    name: "trainer-sgd",
    entry: expect.stringMatching(/trainer-test\/index\.js$/),
  });
  expect(trainer.config).toEqual({ learningRate: 1e-4, minibatchSize: 2, optimizer: "sgd" });
  expect(trainer.manifest.name).toBe("trainer-sgd");
});

test("the plugin's own name is as it would be without the alias", async () => {
  const { name, config } = await trainerOf(withAliases(alias));
  expect({ name, config }).toEqual({
    name: "trainer-test",
    config: { learningRate: 1e-4, minibatchSize: 4 },
  });
});

test("an alias of a package has the package's scope", async () => {
  const packaged = { "plugins/trainer-test/package.json": JSON.stringify({ name: "@acme/trainer-test" }) };
  const files = { ...withAliases(alias), ...packaged, ...training("@acme/trainer-sgd") };
  expect(await trainerOf(files)).toMatchObject({ name: "trainer-sgd", package: "@acme/trainer-test" });
});

test("a plugin's own name is stronger than another plugin's alias", async () => {
  const old = (file: string) =>
    fileOf(`plugins/trainer-test/${file}`).replace('"trainer-test"', '"trainer-sgd"');
  const files = {
    ...withAliases(alias),
    "node_modules/trainer-sgd/everturn.plugin.json": old("everturn.plugin.json"),
    "node_modules/trainer-sgd/index.js": old("index.js"),
    ...training("trainer-sgd"),
  };
  const { folder, config } = await trainerOf(files);
  expect(folder).toMatch(/node_modules\/trainer-sgd$/);
  expect(config).toEqual({ learningRate: 1e-4, minibatchSize: 4 });
});

describe("what messages say", () => {
  test("about an option that the alias presets", async () => {
    const files = { ...withAliases(alias), ...training("trainer-sgd", "1e-4\n    optimizer: adamw") };
    expect(await refused(files)).toContain(
      "pipeline.yaml:20:5: unknown key “optimizer” in trainer.config. trainer-sgd is an alias of trainer-test and sets “optimizer” itself. Name trainer-test to set it.",
    );
  });

  test("about an option that only the plugin's own name has, and a value that only it allows", async () => {
    const narrow = {
      ...alias,
      config: { properties: { minibatchSize: null, learningRate: { maximum: 1 } } },
    };
    const files = { ...withAliases(narrow), ...training("trainer-sgd", "2\n    minibatchSize: 4") };
    const message = await refused(files);
    expect(message).toContain("unknown key “minibatchSize” in trainer.config. Known keys: learningRate.");
    expect(message).toContain("trainer.config.learningRate is 2, but must be at most 1");
  });

  test("about an alias of another kind", async () => {
    const files = { ...withAliases(alias), ...changed("pipeline.yaml", "loop-test", "trainer-sgd") };
    expect(await refused(files)).toContain(
      "loop needs a loop plugin, but trainer-sgd (an alias of trainer-test) is a trainer plugin.",
    );
  });

  test("about a name like an alias", async () => {
    const files = { ...withAliases(alias), ...training("trainer-sdg") };
    expect(await refused(files)).toContain("Did you mean “trainer-sgd”?");
  });

  test("about an alias that presets what the plugin does not have or allow", async () => {
    const wrong = { ...alias, preset: { optimiser: "sgd", minibatchSize: 0 } };
    const message = await refused(withAliases(wrong));
    expect(message).toContain("unknown key “optimiser” in aliases[0].preset. Did you mean “optimizer”?");
    expect(message).toContain("aliases[0].preset.minibatchSize is 0, but must be at least 1");
  });

  test("about an alias whose schema is wrong", async () => {
    const wrong = { ...alias, config: { properties: { learningRate: { typ: "number" } } } };
    expect(await refused(withAliases(wrong))).toContain("“typ” is not a keyword");
  });
});

test("editors are given each alias with its own configuration", async () => {
  const folder = workspace(withAliases(alias));
  const plugins = await namedPlugins({ folder, pluginFolders: [] });
  const configs = new Map(
    plugins.map(({ reference, manifest: { config } }) => [reference, config?.properties]),
  );
  expect(configs.get("trainer-test")).toHaveProperty("optimizer");
  expect(configs.get("trainer-sgd")).toEqual({
    learningRate: { type: "number", exclusiveMinimum: 0, maximum: 1 },
    minibatchSize: { type: "integer", minimum: 1, default: 2 },
  });
});

test("no two plugins that come with Everturn share a name or an alias", () => {
  const names = discoverPlugins(workspace()).map(({ name }) => name);
  expect(names).toContain("loop-simulated-user");
  expect(names).toEqual([...new Set(names)]);
});
