import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Argument, type Command } from "commander";
import packageJson from "../../../../../package.json" with { type: "json" };
import templatePackage from "../../../../../templates/tool/package.json" with { type: "json" };
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import type { PluginManifest } from "../../../../contracts/generated/plugin.ts";
import { sources } from "./sources.ts";

type Kind = PluginManifest["kind"];

/** `everturn plugin new <kind> <name>`: writes the package of a plugin. */
export function registerNew(parent: Command): void {
  parent
    .command("new")
    .description("create a plugin package with its source, a conformance test and everything that npm needs")
    .addArgument(new Argument("<kind>", "kind of the plugin").choices(Object.keys(sources)))
    .argument("<name>", "name of the plugin; @scope/name for a scoped package")
    .action((kind: Kind, name: string) => {
      const named = packageName(kind, name);
      const folder = named.split("/").at(-1) ?? named;
      if (existsSync(folder)) throw new EverturnError("TARGET_NOT_EMPTY", { path: folder });
      for (const [path, text] of Object.entries(filesOf(kind, named))) {
        const file = resolve(folder, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text, { flag: "wx" });
      }
      const next = "npm install && npm run build && npm run check";
      process.stdout.write(
        `${join(folder, "src", "index.ts")} is the ${kind}. Next: cd ${folder} && ${next}\n`,
      );
    });
}

/** The package's name: its last part is the plugin's, and begins with its kind. Throws COMMAND_INVALID. */
function packageName(kind: Kind, given: string): string {
  const [, scope = "", name = ""] = /^(@[a-z0-9-]+\/)?([a-z0-9-]+)$/.exec(given) ?? [];
  const whole = name.startsWith(`${kind}-`) ? name : `${kind}-${name}`;
  if (name !== "" && whole.length <= 63) return scope + whole;
  const reason = `“${given}” is no plugin's name: lower-case letters, digits and dashes, as in weather or @acme/weather`;
  throw new EverturnError("COMMAND_INVALID", { reason });
}

function filesOf(kind: Kind, named: string): Record<string, string> {
  const plugin = named.split("/").at(-1) ?? named;
  const bare = plugin.slice(kind.length + 1);
  const { source, checked } = sources[kind];
  const range = `^${packageJson.version}`;
  const description = {
    name: named,
    version: "0.1.0",
    description: `A ${kind} for Everturn: ${bare}.`,
    license: "MIT",
    keywords: ["everturn", "everturn-plugin", kind],
    type: "module",
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./everturn.plugin.json": "./everturn.plugin.json",
      "./package.json": "./package.json",
    },
    files: ["dist", "everturn.plugin.json"],
    scripts: {
      build: "everturn plugin build",
      check: "everturn plugin check",
      test: "vitest run",
      prepack: "everturn plugin build",
    },
    peerDependencies: { everturn: range },
    devDependencies: { everturn: range, ...templatePackage.devDependencies },
  };
  const options = {
    compilerOptions: {
      target: "ES2023",
      module: "NodeNext",
      strict: true,
      skipLibCheck: true,
      types: ["node"],
      rootDir: "src",
      outDir: "dist",
      declaration: true,
      sourceMap: true,
      rewriteRelativeImportExtensions: true,
    },
    include: ["src"],
  };
  return {
    "package.json": json(description),
    "tsconfig.json": json(options),
    "src/index.ts": source.replaceAll("{name}", bare.replaceAll("-", "_")),
    "tests/promises.test.ts": `import { pluginChecks } from "everturn/testing";
import { test } from "vitest";

for (const { name, run } of await pluginChecks("./src/index.ts", ${checked})) test(name, run, 60_000);
`,
    "README.md": `# ${named}

A ${kind} for [Everturn](https://www.npmjs.com/package/everturn). \`npm install ${named}\`, and a pipeline names it by its name:

\`\`\`yaml
${useOf(kind, plugin)}
\`\`\`

\`npm run build\` writes its manifest and JavaScript, \`npm run check\` says whether it keeps what Everturn counts on.
`,
    ".gitignore": "node_modules/\ndist/\n",
    ".npmrc": "onnxruntime-node-install=skip\n",
  };
}

function useOf(kind: Kind, plugin: string): string {
  if (kind === "tool") return `tools: [${plugin}]`;
  if (kind === "dataset") return `dataset: { train: ${plugin}, validation: ${plugin} }`;
  return kind === "loss" ? `trainer: { plugin: trainer-onnx, loss: ${plugin} }` : `${kind}: ${plugin}`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
