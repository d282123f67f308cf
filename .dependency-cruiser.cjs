const { readFileSync } = require("node:fs");
const { join } = require("node:path");

/** Which room may import which: docs/architecture.md says it, and the rules of `src/` are read from its table. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: {
    path: "^(src|workflows|activities|plugins|schemas|pipelines|tests|benchmarks|scripts)/",
    pathNot: [from, ...allowed],
  },
});

/** The folders of `src/` in the page's order, each with what it may import: none that stands below it. */
function house() {
  const page = readFileSync(join(__dirname, "docs/architecture.md"), "utf8");
  const folders = new Map();
  for (const [, folder, cell] of page.matchAll(/^\| `src\/([a-z]+)\/` \|.*\| ([^|]+) \|$/gm)) {
    const names = cell === "–" ? [] : cell.split(", ").map((name) => name.replaceAll("`", ""));
    const allowed = names.flatMap((name) => (name.startsWith("all but ") ? allBut(name, folders) : [name]));
    const below = allowed.find((name) => !name.endsWith("/") && !folders.has(name));
    if (below !== undefined)
      throw new Error(`docs/architecture.md: src/${below}/ is not above src/${folder}/`);
    folders.set(folder, allowed);
  }
  if (folders.size === 0) throw new Error("docs/architecture.md has no table of the folders of src/");
  return folders;
}

function allBut(name, folders) {
  return [...folders.keys()].filter((folder) => folder !== name.slice("all but ".length));
}

const folders = house();
const known = [...folders.keys()].join("|");

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...[...folders].map(([folder, allowed]) =>
      only(
        `${folder}-sees-what-is-above-it`,
        `^src/${folder}/`,
        allowed.map((name) => (name.endsWith("/") ? `^${name}` : `^src/${name}/`)),
        "docs/architecture.md says what each folder of src/ may import",
      ),
    ),
    ...["from", "to"].map((side) => ({
      name: "each-folder-is-on-the-page",
      comment: "a folder of src/ needs a row in docs/architecture.md",
      severity: "error",
      from: {},
      to: {},
      [side]: { path: "^src/", pathNot: `^src/(${known})/` },
    })),
    only(
      "workflows-see-contracts",
      "^workflows/",
      ["^src/contracts/", "^src/errors/", "^src/formats/"],
      "deterministic code: contracts, the typed failures, and what reads actions",
    ),
    only("plugins-see-the-api", "^plugins/[^/]+/", ["^src/api/"], "plugins see the public API alone"),
    only(
      "tools-see-their-api",
      "^plugins/(tool|reward|dataset)-[^/]+/",
      ["^src/api/(plugin|sandbox|sql|embedding)\\.ts$"],
      "tools, rewards and data sets need nothing of the engine",
    ),
    only(
      "loops-see-their-api",
      "^plugins/loop-[^/]+/",
      ["^src/api/workflow"],
      "loops run inside of workflows",
    ),
    {
      name: "plugin-api-without-engine",
      comment: "what a tool or a loop imports must not load models and their runtime",
      severity: "error",
      from: { path: "^src/api/(plugin|sandbox|workflow)\\.ts$" },
      to: { path: "^src/(devices|onnx|tokens|models|sampling|learning)/", reachable: true },
    },
    {
      name: "plugins-are-packages",
      comment: "a plugin does not import another plugin's files",
      severity: "error",
      from: { path: "^plugins/([^/]+)/" },
      to: { path: "^plugins/([^/]+)/", pathNot: "^plugins/$1/" },
    },
    {
      name: "only-the-cli-sees-the-cli",
      severity: "error",
      from: { pathNot: "^src/cli/" },
      to: { path: "^src/cli/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node"],
      extensions: [".ts", ".js", ".json"],
    },
  },
};
