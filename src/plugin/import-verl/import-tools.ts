import { dirname, resolve } from "node:path";
import { dump } from "js-yaml";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import { suggestion } from "../../base/validation/nearest.ts";
import { child, pathText } from "../../base/validation/pointer.ts";
import { type Problem, refusal } from "../../base/validation/problem.ts";
import { placeOf } from "../../base/validation/source-document.ts";
import { knownClasses, type PipelineTool } from "./known-classes.ts";
import { mcpTools } from "./mcp-tools.ts";
import { readMcpServers, readToolFile, type VerlTool } from "./tool-file.ts";
import { Untranslatable } from "./untranslatable.ts";

/**
 * Converts verl's tool file to the `tools` of a pipeline, in YAML. `classes` maps a user's own classes to a
 * plugin, or to the class of verl's that they resemble. Throws COMMAND_INVALID, WRONG_CONFIGURATION with
 * every entry that has no counterpart, and the errors of reading the file.
 */
export function importTools(path: string, classes: ReadonlyMap<string, string>): string {
  const { tools, document } = readToolFile(path);
  const given = tools.map(({ class_name }) => class_name);
  for (const name of classes.keys()) {
    if (given.includes(name)) continue;
    const hint = suggestion(name, given, "Its classes").replace(/\.$/, "");
    throw new EverturnError("COMMAND_INVALID", { reason: `${path} has no class ${name}. ${hint}` });
  }
  const problems: Problem[] = [];
  const written = tools.flatMap((tool, index) => {
    try {
      return translated(tool, classes, dirname(path)).map((one) => entryText(one, tool.class_name));
    } catch (error) {
      if (!(error instanceof Untranslatable)) throw error;
      const pointer = `${child("/tools", index)}${error.pointer}`;
      const place = placeOf(document, pointer, "value");
      const params = { at: place.text, where: pathText(pointer), reason: error.message, hint: error.hint };
      problems.push({ place, error: new EverturnError("WRONG_COMBINATION", params) });
      return [];
    }
  });
  if (problems.length > 0) throw refusal(document.file, problems);
  return `tools:\n${written.join("")}`;
}

function translated(tool: VerlTool, classes: ReadonlyMap<string, string>, folder: string): PipelineTool[] {
  const { class_name, config, mcp } = tool;
  const target = classes.get(class_name) ?? class_name;
  const known = Object.hasOwn(knownClasses, target) ? knownClasses[target] : undefined;
  if (known !== undefined) return [known(tool)];
  if (classes.has(class_name)) return [ownTool(tool, target)];
  if (mcp !== undefined) return mcpTools(tool, readMcpServers(resolve(folder, mcp.mcp_servers_config_path)));
  if (config.type === "mcp")
    throw new Untranslatable("", "has no mcp.mcp_servers_config_path", "Name the file of its servers.");
  const guess = suggestion(class_name, Object.keys(knownClasses), "Known classes");
  throw new Untranslatable(
    "/class_name",
    `names ${class_name}, for which Everturn has no tool`,
    `Write one (docs/tools.md, “verl's tool file”, shows how) and name it: --map ${class_name}=./tools/mine.ts. ${guess}`,
  );
}

/**
 * Converts a user's own class to a plugin with a single function, which has the name from verl's schema and
 * reads verl's config.
 */
function ownTool({ config: { type: _, ...config }, tool_schema }: VerlTool, plugin: string): PipelineTool {
  const { name, description, parameters } = tool_schema?.function ?? {};
  const functions = name === undefined ? undefined : [{ function: name, description, parameters }];
  return {
    use: JSON.parse(
      JSON.stringify(
        defined({ plugin, functions, config: Object.keys(config).length > 0 ? config : undefined }),
      ),
    ),
    notes: [],
  };
}

function entryText({ use, notes }: PipelineTool, className: string): string {
  const lines = dump([use], { lineWidth: -1 }).trimEnd().split("\n");
  const comments = [className, ...notes].map((note) => `# ${note.replaceAll(/\s+/g, " ")}`);
  return [...comments, ...lines].map((line) => `  ${line}\n`).join("");
}
