import { createHash } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";

/** How a plugin's server is started. */
export interface ServerStart {
  /** A program and its arguments, in which `{port}` stands for the server's port. */
  command: string[];
  /** Python packages as pip names them. */
  requirements: string[];
  /** A version of Python, or the path of its program. Undefined: any Python 3. */
  python: string | undefined;
  /** The folder in which the command runs. */
  folder: string;
  environment: Record<string, string>;
  /** The number of seconds in which the server must answer after its start. */
  patience: number;
  /** The path that it answers once it works. Undefined: once it accepts connections. */
  ready: string | undefined;
}

/** Reads `start` of a plugin's configuration. Throws if its command names no port. */
export function serverStart(start: JsonObject, ready: string | undefined): ServerStart {
  const { command, requirements, python, folder, environment, patience } = start;
  const texts = isObject(environment) ? Object.entries(environment) : [];
  const read: ServerStart = {
    command: textsOf(command),
    requirements: textsOf(requirements),
    python: typeof python === "string" ? python : undefined,
    folder: typeof folder === "string" ? folder : process.cwd(),
    environment: Object.fromEntries(texts.map(([name, text]) => [name, String(text)])),
    patience: typeof patience === "number" ? patience : usualPatience,
    ready,
  };
  const words = [...read.command, ...Object.values(read.environment)];
  if (words.some((word) => word.includes("{port}"))) return read;
  throw new Error(
    `\`start.command\` (${read.command.join(" ")}) names no port: write {port} where the server's port belongs`,
  );
}

const usualPatience = 180;

/** Names the server of a configuration. Equal configurations share a server. */
export function serverKey(start: ServerStart): string {
  const { command, requirements, python, folder, environment, ready } = start;
  const parts = [command, requirements, python, folder, Object.entries(environment).sort(), ready];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
