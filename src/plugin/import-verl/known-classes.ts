import type { JsonObject } from "../../contracts/json.ts";
import type { VerlFunction, VerlTool } from "./tool-file.ts";
import { Untranslatable } from "./untranslatable.ts";

/** A tool in the form of a pipeline. `notes` list settings of verl's that it does not take over. */
export interface PipelineTool {
  use: JsonObject;
  notes: string[];
}

/**
 * The conversions of verl's own classes to Everturn's packages, by class name with module. The names are
 * those of verl up to January 2026. Later versions moved the classes out.
 */
export const knownClasses: Record<string, (tool: VerlTool) => PipelineTool> = {
  "verl.tools.sandbox_fusion_tools.SandboxFusionTool": sandboxFusion,
  "verl.tools.search_tool.SearchTool": search,
  "verl.tools.image_zoom_in_tool.ImageZoomInTool": imageZoomIn,
};

const languages: Record<string, string> = {
  python: "python",
  nodejs: "javascript",
  javascript: "javascript",
  bash: "shell",
};

function sandboxFusion({ config, tool_schema }: VerlTool): PipelineTool {
  const { sandbox_fusion_url: server, default_language = "python" } = config;
  if (typeof server !== "string" || !/^https?:\/\//.test(server))
    throw new Untranslatable("/config", "has no sandbox_fusion_url", "Name the server: https://….");
  const language = languages[String(default_language)];
  if (language === undefined)
    throw new Untranslatable(
      "/config/default_language",
      `is “${default_language}”, which tool-code does not run`,
      `It runs ${Object.keys(languages).join(", ")}.`,
    );
  const time = positive(config, "default_timeout") ?? 30;
  const memory = positive(config, "memory_limit_mb") ?? 1024;
  const url = server.replace(/\/run_code\/?$/, "");
  return {
    use: {
      plugin: "tool-code",
      ...told(tool_schema?.function, "code", { code: true, language: false }),
      config: { sandbox: { kind: "sandbox-fusion", url }, keep: false, language, time, memory },
      timeout: `${time + 30}s`,
      ...atOnce(config),
    },
    notes: [
      ...untold(tool_schema?.function, "tool-code", { code: true, language: false }),
      ...left(config, [
        "sandbox_fusion_url",
        "default_language",
        "default_timeout",
        "memory_limit_mb",
        ...limits,
      ]),
    ],
  };
}

function search({ config, tool_schema }: VerlTool): PipelineTool {
  const { retrieval_service_url: url } = config;
  if (typeof url !== "string" || !/^https?:\/\//.test(url))
    throw new Untranslatable(
      "/config",
      "has no retrieval_service_url",
      "Name the server: http://…/retrieve.",
    );
  const own = { query: true };
  return {
    use: {
      plugin: "tool-search",
      ...told(tool_schema?.function, "search", own),
      config: { url, topk: positive(config, "topk") ?? 3 },
      timeout: `${positive(config, "timeout") ?? 30}s`,
      ...atOnce(config),
    },
    notes: [
      ...untold(tool_schema?.function, "tool-search", own),
      ...left(config, ["retrieval_service_url", "topk", "timeout", ...limits]),
    ],
  };
}

function imageZoomIn({ config, tool_schema }: VerlTool): PipelineTool {
  const own = { bbox_2d: true, label: false, image: false };
  const time = positive(config, "timeout") ?? 30;
  const { functions = ["zoom"], ...rest } = told(tool_schema?.function, "zoom", own);
  return {
    use: {
      plugin: "tool-image",
      ...rest,
      functions,
      config: { time },
      timeout: `${time + 30}s`,
      ...atOnce(config),
    },
    notes: [
      ...untold(tool_schema?.function, "tool-image", own),
      ...left(config, ["timeout", ...limits]),
      "A task's images are its column images, or tools_kwargs.image_zoom_in_tool.create_kwargs.image; set config.folder if they are paths.",
    ],
  };
}

const limits = ["num_workers", "rate_limit", "enable_global_rate_limit"];

/** verl's `rate_limit` of a native tool is a semaphore that limits parallel calls. */
function atOnce(config: JsonObject): { concurrency?: number } {
  const { enable_global_rate_limit: isLimited = true } = config;
  const numbers = [
    positive(config, "num_workers"),
    isLimited === false ? undefined : positive(config, "rate_limit"),
  ];
  const given = numbers.filter((one) => one !== undefined);
  return given.length === 0 ? {} : { concurrency: Math.max(1, Math.floor(Math.min(...given))) };
}

/** A tool's arguments by name, and whether each is required. */
type Arguments = Record<string, boolean>;

/** What the policy sees: the same as in verl, but with the tool's own arguments if it would reject verl's. */
function told(schema: VerlFunction | undefined, own: string, takes: Arguments): JsonObject {
  if (schema === undefined) return {};
  const { name, description, parameters } = schema;
  const kept = parameters !== undefined && fits(parameters, takes) ? { parameters } : {};
  return { name, functions: [{ function: own, name, description, ...kept }] };
}

function untold(schema: VerlFunction | undefined, plugin: string, takes: Arguments): string[] {
  const { parameters } = schema ?? {};
  if (parameters === undefined || fits(parameters, takes)) return [];
  const names = propertiesOf(parameters).join(", ") || "none";
  return [
    `The policy sees ${plugin}'s arguments (${Object.keys(takes).join(", ")}) instead of verl's (${names}).`,
  ];
}

function fits(parameters: JsonObject, takes: Arguments): boolean {
  const given = propertiesOf(parameters);
  const isKnown = given.every((name) => name in takes);
  return isKnown && Object.entries(takes).every(([name, isRequired]) => !isRequired || given.includes(name));
}

function propertiesOf({ properties }: JsonObject): string[] {
  return Object.keys(Object(properties));
}

/** Lists names without values, because a value may be a secret. */
function left(config: JsonObject, read: readonly string[]): string[] {
  const others = Object.keys(config).filter((key) => key !== "type" && !read.includes(key));
  return others.length === 0 ? [] : [`Not taken from its config: ${others.join(", ")}.`];
}

/** Returns a number above 0 from `config`. Undefined if it is absent. */
export function positive(config: JsonObject, key: string): number | undefined {
  const value = config[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value > 0 && Number.isFinite(value)) return value;
  throw new Untranslatable(`/config/${key}`, "is not a number above 0", "Correct it, or leave it out.");
}
