import type { ToolPlugin } from "../../../contracts/tool.ts";

/** A tool of another library in the form of `defineTool`. */
export interface TranslatedTool extends Pick<ToolPlugin, "execute"> {
  name: string;
  description: unknown;
  /** A JSON Schema, or a library's schema. */
  parameters: unknown;
  capabilities: { network: boolean };
}
