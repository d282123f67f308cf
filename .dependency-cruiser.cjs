/** Which room may import which: see docs/architecture.md. */
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

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    only(
      "contracts-see-generated-types",
      "^src/contracts/",
      [],
      "types that cross a boundary import nothing else",
    ),
    only("errors-import-nothing", "^src/errors/", [], "workflow code imports the table"),
    only(
      "workflows-see-contracts",
      "^workflows/",
      ["^src/contracts/", "^src/errors/"],
      "deterministic code: contracts, and the typed failures",
    ),
    only(
      "the-store-stands-alone",
      "^src/store/",
      ["^src/contracts/", "^src/errors/", "^src/processes/"],
      "what lasts knows nothing of what it is for, but where each thing has its place",
    ),
    only("plugins-see-the-api", "^plugins/[^/]+/", ["^src/plugins/api/"], "plugins see the public API alone"),
    {
      name: "plugins-are-packages",
      comment: "a plugin does not import another plugin's files",
      severity: "error",
      from: { path: "^plugins/([^/]+)/" },
      to: { path: "^plugins/([^/]+)/", pathNot: "^plugins/$1/" },
    },
    {
      name: "src-does-not-see-what-builds-on-it",
      severity: "error",
      from: { path: "^src/(?!cli/)" },
      to: { path: "^(activities|workflows|plugins|tests|benchmarks)/" },
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
