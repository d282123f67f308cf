import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject, type JsonValue } from "../../src/contracts/json.ts";

const program = fileURLToPath(import.meta.resolve("yaml-language-server/bin/yaml-language-server"));

/** The YAML language server that editors run, asked over LSP. */
export interface LanguageServer {
  /** Opens a text as a document; resolves to what is wrong with it. */
  open(uri: string, text: string): Promise<{ message: string; line: number }[]>;
  request(method: string, params: JsonObject): Promise<JsonValue>;
  stop(): void;
}

/** Starts a language server that takes `schema`, a file's URL, for every YAML document. */
export async function startLanguageServer(schema: string): Promise<LanguageServer> {
  const child = spawn(process.execPath, [program, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = new Map<number, (result: JsonValue) => void>();
  const diagnoses = new Map<string, (found: { message: string; line: number }[]) => void>();
  const yaml = {
    schemas: { [schema]: "*.yaml" },
    schemaStore: { enable: false },
    validate: true,
    hover: true,
    completion: true,
  };
  let last = 0;
  onMessages(child, (message) => {
    const { id, method, params = null, result = null } = message;
    if (method === undefined && typeof id === "number") answers.get(id)?.(result);
    else if (method === "workspace/configuration" && isObject(params) && Array.isArray(params.items)) {
      const settings = params.items.map((item) => (isObject(item) && item.section === "yaml" ? yaml : {}));
      write({ id: id ?? null, result: settings });
    } else if (method === "textDocument/publishDiagnostics" && isObject(params)) {
      const found = Array.isArray(params.diagnostics) ? params.diagnostics : [];
      diagnoses.get(String(params.uri))?.(found.map(diagnosis));
    } else if (id !== undefined) write({ id, result: null });
  });

  function write(message: JsonObject): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin?.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
  function request(method: string, params: JsonObject): Promise<JsonValue> {
    const id = ++last;
    write({ id, method, params });
    return new Promise((resolve) => answers.set(id, resolve));
  }
  function open(uri: string, text: string): Promise<{ message: string; line: number }[]> {
    const textDocument = { uri, languageId: "yaml", version: 1, text };
    const found = new Promise<{ message: string; line: number }[]>((resolve) => diagnoses.set(uri, resolve));
    write({ method: "textDocument/didOpen", params: { textDocument } });
    return found;
  }

  await request("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      workspace: { configuration: true },
      textDocument: { hover: { contentFormat: ["plaintext"] }, completion: {} },
    },
  });
  write({ method: "initialized", params: {} });
  write({ method: "workspace/didChangeConfiguration", params: { settings: { yaml } } });
  return { open, request, stop: () => child.kill() };
}

function diagnosis(found: JsonValue): { message: string; line: number } {
  if (!isObject(found) || !isObject(found.range) || !isObject(found.range.start))
    throw new Error("no diagnosis");
  return { message: String(found.message), line: Number(found.range.start.line) };
}

function onMessages(child: ChildProcess, take: (message: JsonObject) => void): void {
  let waiting = Buffer.alloc(0);
  child.stdout?.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (;;) {
      const [header = "", length] =
        /^Content-Length: (\d+)\r\n(?:.*\r\n)*?\r\n/.exec(waiting.toString("latin1")) ?? [];
      const end = header.length + Number(length);
      if (header === "" || waiting.length < end) return;
      const message: JsonValue = JSON.parse(waiting.subarray(header.length, end).toString("utf8"));
      waiting = waiting.subarray(end);
      if (isObject(message)) take(message);
    }
  });
}
