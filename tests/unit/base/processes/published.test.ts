import { expect, test } from "vitest";
import { published, publishedManifest } from "../../../../scripts/build/published.ts";

test("what is published says where the project lives and how it is published, as the root says it, with its own folder", () => {
  const root = {
    name: "everturn",
    repository: { type: "git", url: "git+https://example.org/everturn.git" },
    homepage: "https://example.org/everturn",
    bugs: "https://example.org/everturn/issues",
    publishConfig: { access: "public", provenance: true },
    scripts: { test: "vitest run" },
    exports: { "./plugin": "./src/api/plugin.ts" },
  };
  const { scripts: _, exports: __, name: ___, ...shared } = root;
  const plugin = { name: "@everturn/tool-x", private: true, exports: { ".": "./index.ts" } };
  expect(published(plugin, "plugins/tool-x", root)).toEqual({
    ...shared,
    name: "@everturn/tool-x",
    repository: { ...root.repository, directory: "plugins/tool-x" },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  });
  expect(published(root, "", root)).toMatchObject({ repository: root.repository });
});

test("a published manifest names JavaScript, also in the loop of an environment", () => {
  const loop = { plugin: "loop-agent", config: { module: "./agent.ts", mode: "pool" } };
  expect(publishedManifest({ name: "environment-x", entry: "./index.ts", loop })).toEqual({
    name: "environment-x",
    entry: "./index.js",
    loop: { plugin: "loop-agent", config: { module: "./agent.js", mode: "pool" } },
    $schema: "../../everturn/schemas/plugin.schema.json",
  });
});
