import type { ToolPlugin } from "../../../contracts/tool.ts";

/** A tool of another ecosystem in the words of `defineTool`. */
export interface TranslatedTool extends Pick<ToolPlugin, "execute"> {
  name: string;
  description: unknown;
  /** A JSON Schema, or a schema of a library. */
  parameters: unknown;
  capabilities: { network: boolean };
}
