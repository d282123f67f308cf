const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

/** `from` imports nothing of the project but itself and `allowed`. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: {
    path: "^(src|workflows|activities|packages|plugins|schemas|pipelines|tests|benchmarks|scripts)/",
    pathNot: [from, ...allowed],
  },
});

/** The rows of a page's table whose first cell matches `name`: names and what each may import, in the page's order. */
function rows(page, name) {
  const found = new Map();
  const text = readFileSync(join(__dirname, page), "utf8");
  const row = new RegExp(`^\\| ${name} \\|.*\\| ([^|]+) \\|$`, "gm");
  for (const [, folder, cell] of text.matchAll(row)) {
    const names = cell === "–" ? [] : cell.split(", ").map((one) => one.replaceAll("`", ""));
    const allowed = names.flatMap((one) =>
      one.startsWith("all but ") ? [...found.keys()].filter((other) => other !== one.slice(8)) : [one],
    );
    const below = allowed.find((one) => !one.endsWith("/") && !found.has(one));
    if (below !== undefined) throw new Error(`${page}: ${below}/ is not above ${folder}/`);
    found.set(folder, allowed);
  }
  return found;
}

/** The files of a folder, less those of folders inside it that have rows of their own. */
function filesOf(path, isDivided) {
  return isDivided ? `^${path}/[^/]+$` : `^${path}/`;
}

/** The rules of the folders inside a room, from the table of its README. */
function roomRules(room) {
  const page = `src/${room}/README.md`;
  const folders = existsSync(join(__dirname, page)) ? rows(page, "`([a-z/-]+)/`") : new Map();
  if (folders.size === 0) return [];
  const names = [...folders.keys()];
  const isDivided = (folder) => names.some((other) => other.startsWith(`${folder}/`));
  const path = (folder) => filesOf(`src/${room}/${folder}`, isDivided(folder));
  return [
    ...names.map((folder) => ({
      name: `${room}/${folder}-imports-what-its-room-says`,
      comment: `${page} says what each of its folders may import`,
      severity: "error",
      from: { path: path(folder) },
      to: { path: `^src/${room}/`, pathNot: [path(folder), ...folders.get(folder).map(path)] },
    })),
    ...["from", "to"].map((side) => ({
      name: "each-folder-is-in-its-rooms-table",
      comment: `a folder of src/${room}/ needs a row in ${page}`,
      severity: "error",
      from: {},
      to: {},
      [side]: { path: `^src/${room}/`, pathNot: names.map(path) },
    })),
  ];
}

const rooms = rows("docs/architecture.md", "\\[`src/([a-z]+)/`\\]\\([^)]*\\)");
if (rooms.size === 0) throw new Error("docs/architecture.md has no table of the rooms of src/");
const known = [...rooms.keys()].join("|");

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...[...rooms].map(([room, allowed]) =>
      only(
        `${room}-imports-rooms-above-it`,
        `^src/${room}/`,
        allowed.map((name) => (name.endsWith("/") ? `^${name}` : `^src/${name}/`)),
        "docs/architecture.md says which rooms each room of src/ may import",
      ),
    ),
    ...[...rooms.keys()].flatMap(roomRules),
    ...["from", "to"].map((side) => ({
      name: "each-room-is-on-the-page",
      comment: "a room of src/ needs a row in docs/architecture.md",
      severity: "error",
      from: {},
      to: {},
      [side]: { path: "^src/", pathNot: `^src/(${known})/` },
    })),
    only(
      "workflows-see-contracts",
      "^workflows/",
      [
        "^src/contracts/",
        "^src/base/errors/",
        "^src/base/records/",
        "^src/base/statistics/",
        "^src/chat/formats/",
        "^src/run/projections/",
      ],
      "deterministic code: contracts, the typed failures, records, statistics, what reads actions, and projections",
    ),
    only("packages-see-nothing", "^packages/[^/]+/", [], "packages are useful without Everturn"),
    only(
      "plugins-see-the-api",
      "^plugins/[^/]+/",
      ["^src/api/", "^packages/[^/]+/index\\.ts$"],
      "plugins see the public API and the entries of packages alone",
    ),
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
      to: { path: "^src/engine/(devices|onnx|tokens|models|sampling|learning)/", reachable: true },
    },
    {
      name: "plugins-are-packages",
      comment: "a plugin does not import another plugin's files, but for those that a package shares",
      severity: "error",
      from: { path: "^plugins/([^/]+)/" },
      to: { path: "^plugins/([^/]+)/", pathNot: "^plugins/($1/|[^/]+/shared\\.ts$)" },
    },
    {
      name: "only-apps-see-apps",
      severity: "error",
      from: { pathNot: "^src/apps/" },
      to: { path: "^src/apps/" },
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
