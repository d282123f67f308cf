import { describe, expect, it } from "vitest";
import { changed, fileOf, refused, withManifest, withPipeline } from "./workspace.ts";

const manifestWithoutTool = `{
  "name": "tool-test",
  "kind": "tool",
  "version": "0.1.0",
  "engines": { "everturn": "^0.3.0" },
  "entry": "./index.js"
}
`;

function broken(entry: string): Promise<string> {
  const uses = changed("pipeline.yaml", "tool-calculator", "tool-test");
  return refused({ ...uses, "plugins/tool-test/index.js": entry });
}

describe("a broken plugin is refused", () => {
  it("an unknown name", async () => {
    expect(await withPipeline("tool-calculator", "tool-calculater")).toMatch(
      /^pipeline\.yaml:11:13: there is no plugin “tool-calculater”\. Did you mean “tool-calculator”\? Plugins of kind tool: .*\btool-test\b.*\.$/m,
    );
  });

  it("an unknown name that stands alone, and one in an override", async () => {
    const short = await withPipeline(
      "reward: { plugin: reward-exact-match, config: {} }",
      "reward: reward-x",
    );
    expect(short).toContain("pipeline.yaml:15:9: there is no plugin “reward-x”.");
    expect(await refused({}, ["reward=reward-x"])).toContain("override reward=reward-x: there is no plugin");
  });

  it("a name like no other", async () => {
    expect(await withPipeline("loop-test", "my-own")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:14:17: there is no plugin “my-own”. Plugins of kind loop: loop-agent, loop-interaction, loop-simulated-user, loop-test, loop-tool-agent.
      Correct it and run again."
    `);
  });

  it("a plugin of another kind", async () => {
    expect(await withPipeline("reward-exact-match", "tool-calculator")).toMatch(
      /^pipeline\.yaml:15:19: reward needs a reward plugin, but tool-calculator is a tool plugin\. Plugins of kind reward: .*\breward-exact-match\b.*\.$/m,
    );
  });

  it("a path that doesn't exist", async () => {
    expect(await withPipeline("tool-calculator", "./my-tool")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: there is no plugin “./my-tool”. There is no folder my-tool; a plugin's path is relative to the pipeline.
      Correct it and run again."
    `);
  });

  it("a folder without a manifest", async () => {
    expect(await withPipeline("tool-calculator", "./weights")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: there is no plugin “./weights”. The folder weights has no everturn.plugin.json.
      Correct it and run again."
    `);
  });

  it("two plugins of one name", async () => {
    expect(
      await refused({
        "plugins/copy/everturn.plugin.json": fileOf("plugins/loop-test/everturn.plugin.json"),
      }),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:14:17: two plugins are named “loop-test”: plugins/copy and plugins/loop-test. Rename one of them, or refer to the plugin by the path of its folder.
      Correct it and run again."
    `);
  });

  it("a plugin for another Everturn", async () => {
    expect(await withManifest("^0.3.0", "^0.9.0")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: tool-test 0.1.0 requires everturn ^0.9.0, but this is everturn 0.3.0. Install a version of tool-test that supports everturn 0.3.0, or an everturn version in ^0.9.0.
      Correct it and run again."
    `);
  });

  it("a manifest that isn't JSON: a comma too many", async () => {
    expect(await withManifest('"0.1.0",', '"0.1.0",,')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:4:22: not valid JSON: there is a comma too many. Remove it.
      Correct it and run again."
    `);
  });

  it("a manifest that isn't JSON: a comma missing", async () => {
    expect(await withManifest('"0.1.0",', '"0.1.0"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:4:21: not valid JSON: a comma is missing here. Add it.
      Correct it and run again."
    `);
  });

  it("a manifest that isn't JSON: a comment", async () => {
    expect(await withManifest('"0.1.0",', '"0.1.0", // first')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:4:23: not valid JSON: there is a comment. JSON has none; remove it.
      Correct it and run again."
    `);
  });

  it("a manifest that ends early", async () => {
    expect(
      await refused({
        ...changed("pipeline.yaml", "tool-calculator", "tool-test"),
        "plugins/tool-test/everturn.plugin.json": '{\n  "name": "tool-test",\n',
      }),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:1:1: not valid JSON: this { is never closed. Close it.
      Correct it and run again."
    `);
  });

  it("a key written twice in a manifest", async () => {
    expect(
      await withManifest('"version": "0.1.0",', '"version": "0.1.0",\n  "version": "0.2.0",'),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:5:3: the key “version” appears twice in one mapping. Line 4 already contains it. Remove one of the two.
      Correct it and run again."
    `);
  });

  it("an unknown key in a manifest", async () => {
    expect(await withManifest('"entry"', '"entrypoint": "./index.js",\n  "entry"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:8:3: unknown key “entrypoint” in the manifest. Known keys: $schema, name, kind, version, engines, entry, workflow, config, capabilities, aliases, tool, reward, loop.
      Correct it and run again."
    `);
  });

  it("a manifest of an unknown kind", async () => {
    expect(await withManifest('"kind": "tool"', '"kind": "tools"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:3:11: kind is “tools”, but must be one of tool, reward, loop, policy, trainer, loss, dataset, tracker, environment. Did you mean “tool”?
      Correct it and run again."
    `);
  });

  it("a manifest with an unreadable version range", async () => {
    expect(await withManifest("^0.3.0", "latest")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:6:17: engines.everturn is “latest”, but isn't of the right form. A version range: ^0.1.0, ~0.1.2, >=0.1.0 <0.3.0, ^0.2.0-rc.1, 0.1.0 or *, and alternatives joined by ||.
      Correct it and run again."
    `);
  });

  it("a tool without its tool block", async () => {
    expect(
      await refused({
        ...changed("pipeline.yaml", "tool-calculator", "tool-test"),
        "plugins/tool-test/everturn.plugin.json": manifestWithoutTool,
      }),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:1:1: the manifest lacks “tool”. Add “tool”: what the policy is told of the tool: name, description, parameters.
      Correct it and run again."
    `);
  });

  it("a tool's name with a space", async () => {
    expect(await withManifest('"lookup"', '"look up"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:10:13: tool.name is “look up”, but isn't of the right form. The name that the policy calls, or the common name of several functions: letters, digits, _ and -, at most 64.
      Correct it and run again."
    `);
  });

  it("a tool that takes the name of one of Everturn's activities", async () => {
    expect(await withManifest('"lookup"', '"score-trajectory"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: tool-test offers the tool “score-trajectory”, but an activity of Everturn already uses that name. Remove one of the two, or rename the tool or one of its \`functions\` with \`name\`.
      Correct it and run again."
    `);
  });

  it("parameters that are no JSON Schema", async () => {
    expect(await withManifest('"type": "string"', '"type": "text"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:20:19: tool.parameters.properties.query.type is not a valid JSON Schema (draft-07): it is “text”, but must be one of array, boolean, integer, null, number, object, string. Correct it there.
      Correct it and run again."
    `);
  });

  it("parameters with a misspelled keyword", async () => {
    expect(await withManifest('"type": "string"', '"type": "string", "minLenght": 1')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:20:29: tool.parameters.properties.query.minLenght is not a valid JSON Schema (draft-07): “minLenght” is not a keyword. Did you mean “minLength”?
      Correct it and run again."
    `);
  });

  it("parameters that aren't an object", async () => {
    expect(await withManifest('"type": "object"', '"type": "array"')).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:12:5: tool.parameters is not a valid JSON Schema (draft-07): its type is “array”. It describes named values: write "type": "object".
      Correct it and run again."
    `);
  });

  it("a retry interval without a unit", async () => {
    expect(
      await withManifest('"name": "lookup",', '"name": "lookup",\n    "retry": { "initialInterval": 100 },'),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:11:35: tool.retry.initialInterval must be text, but is 100. A number and ms, s, m or h, for example 500ms, 10s or 2m.
      Correct it and run again."
    `);
  });

  it("a missing entry file", async () => {
    expect(await withManifest("./index.js", "./main.js")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      plugins/tool-test/everturn.plugin.json:8:12: entry names ./main.js, which doesn't exist. Create the file, or correct the path. The path is relative to the manifest's folder.
      Correct it and run again."
    `);
  });

  it("an entry that can't be imported", async () => {
    expect(await broken("import './nothing.js';")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: the plugin can't be used. tool-test: Everturn can't import its entry plugins/tool-test/index.js: Cannot find module './nothing.js' imported from plugins/tool-test/index.js. Run \`node plugins/tool-test/index.js\` to see the complete error.
      Correct it and run again."
    `);
  });

  it("an entry without a default export", async () => {
    expect(await broken("export const tool = {};")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: the plugin can't be used. tool-test: the default export of plugins/tool-test/index.js is missing. A tool plugin's default export is an object with execute().
      Correct it and run again."
    `);
  });

  it("an entry whose default export lacks a function", async () => {
    expect(await broken("export default { run() {} };")).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:11:13: the plugin can't be used. tool-test: the default export of plugins/tool-test/index.js lacks execute(). A tool plugin's default export is an object with execute().
      Correct it and run again."
    `);
  });

  it("configuration of a plugin that takes none", async () => {
    expect(
      await withPipeline("loop-test, config: {}", "loop-test, config: { maxTurns: 3 }"),
    ).toMatchInlineSnapshot(`
      "pipeline.yaml: 1 problem found:
      pipeline.yaml:14:38: unknown key “maxTurns” in loop.config. It takes no keys.
      Correct it and run again."
    `);
  });
});
