import type {
  CallToolResult,
  CompatibilityCallToolResult,
  ContentBlock,
} from "@modelcontextprotocol/sdk/types.js";
import type { ToolResponse } from "everturn/plugin";

type Part = NonNullable<ToolResponse["content"]>[number];

/** Converts a server's answer for the model. Structured content appears only if no other content has it. */
export function answerOf(result: CallToolResult | CompatibilityCallToolResult): ToolResponse {
  if (!Array.isArray(result.content)) return { content: jsonParts(result.toolResult) }; // the revision 2024-10-07
  const { content, structuredContent, isError } = result;
  const parts = content.map(partOf);
  if (parts.length === 0 && structuredContent !== undefined) parts.push(...jsonParts(structuredContent));
  return {
    content: parts.length === 0 ? [text("The tool answered nothing.")] : parts,
    ...(isError === true ? { error: true } : {}),
  };
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return imageOf(block.data, block.mimeType);
    case "audio":
      return text(`[audio: ${block.mimeType}, ${bytesText(block.data)}]`);
    case "resource_link":
      return text(`[resource ${block.uri}: ${block.description ?? block.title ?? block.name}]`);
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return text(resource.text);
      const { uri, mimeType = "unknown" } = resource;
      if (mimeType.startsWith("image/")) return imageOf(resource.blob, mimeType);
      return text(`[resource ${uri}: ${mimeType}, ${bytesText(resource.blob)}]`);
    }
  }
}

/** An invalid image becomes a note, because it is the server's mistake and no reason to end the run. */
function imageOf(data: string, mimeType: string): Part {
  const isImage =
    /^image\/[a-z0-9.+-]+$/i.test(mimeType) && data !== "" && /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data);
  return isImage ? { type: "image", data, mimeType } : text(`[image: ${mimeType}, ${bytesText(data)}]`);
}

function bytesText(data: string): string {
  return `${Buffer.from(data, "base64").length} bytes`;
}

/** A value as JSON, with a note if the SDK may have changed a number when it parsed it. */
function jsonParts(value: unknown): Part[] {
  const part: Part = { type: "json", value: JSON.parse(JSON.stringify(value ?? null)) };
  if (!holdsLargeNumber(value)) return [part];
  return [
    part,
    text("[Integers beyond 9007199254740991 are rounded here, and numbers beyond 1.8e308 are null.]"),
  ];
}

function holdsLargeNumber(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsLargeNumber);
}

function text(said: string): Part {
  return { type: "text", text: said };
}
