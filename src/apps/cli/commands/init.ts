import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import { displayPath } from "../../../base/validation/place.ts";
import { composedSchema } from "../../../plan/pipeline/read/composed-schema.ts";
import { namedPlugins } from "../../../plan/pipeline/resolve/named-plugins.ts";
import { projectFiles, type Template, templateNames } from "../../init/project-files.ts";
import { writeFiles } from "../../init/write-files.ts";

/** `everturn init [folder]`: creates a small project that can be trained and tested immediately. */
export function registerInit(program: Command): void {
  program
    .command("init")
    .description("create a small project with a pipeline, a tool, a reward, tasks and a test")
    .argument("[folder]", "folder for the project; existing files are never overwritten", ".")
    .addOption(
      new Option(
        "--template <name>",
        "tool: a tool of your own; agent: an agent of the AI SDK; loop: also an agent loop; library: a training script; tinker: training on a server",
      )
        .choices(templateNames)
        .default("tool"),
    )
    .action(init);
}

async function init(named: string, { template }: { template: Template }): Promise<void> {
  const folder = resolve(named);
  const files = projectFiles(template, packageName(folder));
  const schema = composedSchema(await namedPlugins({ folder, pluginFolders: [] }));
  files.set("everturn.schema.json", `${JSON.stringify(schema, undefined, 2)}\n`);
  writeFiles(folder, files);
  const names = [...files.keys()].sort().map((path) => `  ${path}`);
  const steps = [
    ...(folder === process.cwd() ? [] : [`  cd ${displayPath(folder)}`]),
    ...commands(template, process.env.npm_config_user_agent),
  ];
  process.stdout.write([`${displayPath(folder)} has now:`, ...names, "Next:", ...steps, ""].join("\n"));
}

/** A valid npm package name derived from a folder's name. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return name === "" ? "shop" : name;
}

/** The next commands to type, for the package manager that ran this command. */
function commands(template: Template, userAgent = ""): string[] {
  const manager = /^(pnpm|yarn|bun)\//.exec(userAgent)?.[1] ?? "npm";
  const starts =
    template === "tinker"
      ? [
          `  ${manager} run base  makes a small base model in a few minutes`,
          `  ${manager} start     trains it, once you have started the server as README.md shows`,
        ]
      : [`  ${manager} start     trains for one to four minutes and reports the result`];
  return [
    `  ${manager} install`,
    ...starts,
    manager === "bun" ? "  bun run test" : `  ${manager} test`, // `bun test` is Bun's own test runner
  ];
}
