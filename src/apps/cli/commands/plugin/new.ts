import { existsSync } from "node:fs";
import { join } from "node:path";
import { Argument, type Command } from "commander";
import packageJson from "../../../../../package.json" with { type: "json" };
import pluginPackage from "../../../../../templates/plugin/common/package.json" with { type: "json" };
import projectPackage from "../../../../../templates/tool/package.json" with { type: "json" };
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import type { PluginManifest } from "../../../../contracts/generated/plugin.ts";
import { templateFiles } from "../../../init/project-files.ts";
import { writeFiles } from "../../../init/write-files.ts";

type Kind = PluginManifest["kind"];

const kinds: readonly Kind[] = ["tool", "reward", "dataset", "loop", "loss", "policy", "tracker", "trainer"];

/** `everturn plugin new <kind> <name>`: writes a new plugin's package. */
export function registerNew(parent: Command): void {
  parent
    .command("new")
    .description("create a plugin package with its source, a conformance test and everything that npm needs")
    .addArgument(new Argument("<kind>", "kind of the plugin").choices(kinds))
    .argument("<name>", "name of the plugin; @scope/name for a scoped package")
    .action((kind: Kind, name: string) => {
      const named = packageName(kind, name);
      const folder = named.split("/").at(-1) ?? named;
      if (existsSync(folder)) throw new EverturnError("TARGET_NOT_EMPTY", { path: folder });
      writeFiles(folder, filesOf(kind, named));
      const next = "npm install && npm run build && npm run check";
      process.stdout.write(
        `${join(folder, "src", "index.ts")} is the ${kind}. Next: cd ${folder} && ${next}\n`,
      );
    });
}

/** The package's name. Its last part is the plugin's name, which begins with the kind. Throws COMMAND_INVALID. */
function packageName(kind: Kind, given: string): string {
  const [, scope = "", name = ""] = /^(@[a-z0-9-]+\/)?([a-z0-9-]+)$/.exec(given) ?? [];
  const whole = name.startsWith(`${kind}-`) ? name : `${kind}-${name}`;
  if (name !== "" && whole.length <= 63) return scope + whole;
  const reason = `“${given}” is not a valid plugin name: use lower-case letters, digits and dashes, for example weather or @acme/weather`;
  throw new EverturnError("COMMAND_INVALID", { reason });
}

/** The files of `templates/plugin` for a kind, with the plugin's name in place of `plugin_name`. */
function filesOf(kind: Kind, named: string): Map<string, string> {
  const plugin = named.split("/").at(-1) ?? named;
  const bare = plugin.slice(kind.length + 1);
  const range = `^${packageJson.version}`;
  const { files: published, scripts, ...about } = pluginPackage;
  const description = {
    ...about,
    name: named,
    description: `A ${kind} for Everturn: ${bare}.`,
    keywords: [...about.keywords, kind],
    // Not in the template, because Everturn's own package may contain no second package.json with exports.
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./everturn.plugin.json": "./everturn.plugin.json",
      "./package.json": "./package.json",
    },
    files: published,
    scripts,
    peerDependencies: { everturn: range },
    devDependencies: { everturn: range, ...projectPackage.devDependencies },
  };
  const files = [...templateFiles(join("plugin", "common")), ...templateFiles(join("plugin", kind))];
  const texts = files.map(([path, text]) => {
    const written = text
      .replaceAll("plugin_name", bare.replaceAll("-", "_"))
      .replaceAll("{package}", named)
      .replaceAll("{kind}", kind)
      .replaceAll("{use}", useOf(kind, plugin));
    return [path, written] as const;
  });
  return new Map([...texts, ["package.json", `${JSON.stringify(description, undefined, 2)}\n`]]);
}

function useOf(kind: Kind, plugin: string): string {
  if (kind === "tool") return `tools: [${plugin}]`;
  if (kind === "dataset") return `dataset: { train: ${plugin}, validation: ${plugin} }`;
  return kind === "loss" ? `trainer: { plugin: trainer-onnx, loss: ${plugin} }` : `${kind}: ${plugin}`;
}
