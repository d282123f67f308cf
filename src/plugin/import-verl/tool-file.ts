import { Ajv } from "ajv";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { problemsOf } from "../../base/validation/findings.ts";
import { parseYaml } from "../../base/validation/parse-yaml.ts";
import { displayPath, placeAt } from "../../base/validation/place.ts";
import { child, type Pointer, pathText } from "../../base/validation/pointer.ts";
import { refusal } from "../../base/validation/problem.ts";
import { readText } from "../../base/validation/read-text.ts";
import { placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";

/** An entry of verl's tool file (`actor_rollout_ref.rollout.multi_turn.tool_config_path`). */
export interface VerlTool {
  class_name: string;
  config: JsonObject;
  tool_schema?: { function: VerlFunction } | null;
  mcp?: { mcp_servers_config_path: string; tool_selected_list?: string[] | null };
}

/** The schema of a tool that verl's policy sees. */
export interface VerlFunction {
  name: string;
  description: string;
  parameters?: JsonObject;
}

const text = { type: "string", minLength: 1 };

const validate = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<{ tools: VerlTool[] }>({
  type: "object",
  required: ["tools"],
  properties: {
    tools: {
      description: "verl's list of tools, each with class_name, config and tool_schema.",
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["class_name", "config"],
        properties: {
          class_name: {
            description: "The class with its module, for example verl.tools.search_tool.SearchTool.",
            type: "string",
            pattern: "^[A-Za-z_]\\w*(\\.[A-Za-z_]\\w*)*$",
          },
          config: { type: "object", properties: { type: { enum: ["native", "mcp"] } } },
          tool_schema: {
            type: ["object", "null"],
            required: ["function"],
            properties: {
              function: {
                type: "object",
                required: ["name", "description"],
                properties: {
                  name: {
                    description: "At most 64 letters, digits, _ and -.",
                    type: "string",
                    pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,63}$",
                  },
                  description: text,
                  parameters: { type: "object" },
                },
              },
            },
          },
          mcp: {
            type: "object",
            required: ["mcp_servers_config_path"],
            properties: {
              mcp_servers_config_path: text,
              tool_selected_list: { type: ["array", "null"], items: text },
            },
          },
        },
      },
    },
  },
});

/**
 * Reads verl's tool file. Throws PATH_UNUSABLE, TEXT_ENCODING_WRONG, or WRONG_CONFIGURATION with all mistakes
 * in it.
 */
export function readToolFile(path: string): { tools: VerlTool[]; document: SourceDocument } {
  const file = displayPath(path);
  const source = readText(path);
  const { documents, problems } = parseYaml(source, file);
  if (problems.length > 0) throw refusal(file, problems);
  const [document = { file, source, value: null, offsets: new Map() }] = documents;
  const { value } = document;
  if (!validate(value))
    throw refusal(file, problemsOf(validate.errors ?? [], document, { base: "", whole: "the file" }));
  const references = unresolved(value, "").map((pointer) => {
    const place = placeOf(document, pointer, "value");
    const reason = "refers to another value, which only OmegaConf resolves";
    const params = { at: place.text, where: pathText(pointer), reason, hint: "Write the value out." };
    return { place, error: new EverturnError("WRONG_COMBINATION", params) };
  });
  if (references.length > 0) throw refusal(file, references);
  return { tools: value.tools, document };
}

/** The servers of verl's `mcp_servers_config_path`, by name. */
export type McpServers = Record<string, JsonObject>;

/** Reads the file of MCP servers that a tool file names. Throws the errors of `readToolFile`. */
export function readMcpServers(path: string): McpServers {
  const file = displayPath(path);
  const source = readText(path);
  const { documents, problems } = parseYaml(source, file); // JSON is YAML
  if (problems.length > 0) throw refusal(file, problems);
  const [document] = documents;
  const { mcpServers } = isObject(document?.value) ? document.value : {};
  const servers = Object.entries(isObject(mcpServers) ? mcpServers : {});
  const found = servers.flatMap(([name, server]) => (isObject(server) ? [[name, server] as const] : []));
  if (found.length > 0 && found.length === servers.length) return Object.fromEntries(found);
  const place = placeAt(file, source, 0);
  const params = { at: place.text, where: "mcpServers", actual: "no servers by name" };
  const hint = 'It is as verl has it: {"mcpServers": {"search": {"url": "https://…"}}}.';
  const expected = "must have one or more, each a mapping";
  throw refusal(file, [{ place, error: new EverturnError("WRONG_VALUE", { ...params, expected, hint }) }]);
}

function unresolved(value: JsonValue | object, at: Pointer): Pointer[] {
  if (typeof value === "string") return value.includes("${") ? [at] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => unresolved(item, child(at, key)));
}
