import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import onnx from "../../plugins/policy-onnx/index.ts";
import type { Generation, Policy } from "../../src/contracts/policy.ts";

/** What an inference server does wrong with a generation. */
export type Fault = "drop" | "half" | "error" | "abort" | "silence" | "updated";

/** A server that speaks vLLM's and SGLang's published protocols, and writes with Everturn's own sampler. */
export interface InferenceServer {
  url: string;
  /** Actions that it was asked for, by their ids. */
  asked: string[];
  /** How often it read weights from a folder. */
  loads: string[];
  adapters: Set<string>;
  /** How many actions it wrote, by the folder of their weights. */
  written: Map<string, number>;
  /** What is wrong with the next actions, in order. */
  faults: Fault[];
  /** Whether it answers looks at its health. */
  isWell: boolean;
  /** Breaks all connections, and takes none until it is started again, without the weights it had. */
  die(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Ask {
  tokens: number[];
  temperature: number;
  maxTokens: number;
  seed: number;
  stop?: string[];
  adapter?: string | undefined;
}

/** Starts a server with the model in a folder, under weights that are nobody's. */
export async function inferenceServer(folder: string): Promise<InferenceServer> {
  let port = 0;
  let label = "default";
  let version = 0;
  let versions = 0;
  let writing = 0;
  let paused: PromiseWithResolvers<void> | undefined;
  const idle = new Set<() => void>();
  const policy: Policy = await onnx.open(folder, { slots: 8 });
  await policy.load(0, folder);
  const adapters = new Map<string, number>();
  const folders = [folder];

  const write = async ({ tokens, temperature, maxTokens, seed, stop = [], adapter }: Ask) => {
    while (paused !== undefined) await paused.promise;
    const own = adapter === undefined ? version : adapters.get(adapter);
    if (own === undefined) return undefined;
    writing += 1;
    const by = label;
    const place = folders[own] ?? "";
    server.written.set(place, (server.written.get(place) ?? 0) + 1);
    try {
      await policy.load(own, place); // it may have let it go
      const key = { seed, trajectory: "", turn: 1 };
      const sampling = { temperature, maxTokens, stop };
      return { by, ...(await policy.generate({ tokens, version: own, sampling, key })) };
    } finally {
      writing -= 1;
      if (writing === 0) for (const resolve of idle) resolve();
    }
  };

  const pause = async () => {
    paused ??= Promise.withResolvers();
    if (writing > 0) await new Promise<void>((resolve) => idle.add(resolve));
    idle.clear();
  };
  const resume = () => {
    paused?.resolve();
    paused = undefined;
  };

  const read = async (path: string) => {
    server.loads.push(path);
    folders[++versions] = path;
    await policy.load(versions, path);
    version = versions;
  };

  const readAdapter = async (name: string, path: string) => {
    folders[++versions] = path;
    adapters.set(name, versions);
    server.adapters.add(name);
  };

  const answers: Record<string, (body: ReturnType<typeof JSON.parse>) => Promise<[number, unknown]>> = {
    "/health": async () => [200, ""],
    "/weight_info": async () => [200, { weight_version: label }],
    "/model_info": async () => [200, { weight_version: label }],
    "/pause": async () => [200, await pause()],
    "/pause_generation": async () => [200, await pause()],
    "/resume": async () => [200, resume()],
    "/continue_generation": async () => [200, resume()],
    "/reset_prefix_cache": async () => [200, ""],
    "/v1/models": async () => [200, { data: ["model", ...adapters.keys()].map((id) => ({ id })) }],
    "/collective_rpc": async ({ kwargs }) => [200, { results: [await read(kwargs.weights_path)] }],
    "/update_weight_version": async (body) => {
      label = body.new_version;
      return [200, { success: true, new_version: label }];
    },
    "/update_weights_from_disk": async (body) => {
      if (paused === undefined) return [400, { success: false, message: "not paused" }];
      await read(body.model_path);
      label = body.weight_version;
      return [200, { success: true, message: "Succeeded", num_paused_requests: 0 }];
    },
    "/v1/load_lora_adapter": async (body) => [200, await readAdapter(body.lora_name, body.lora_path)],
    "/load_lora_adapter": async (body) => {
      if (adapters.has(body.lora_name))
        return [400, { success: false, error_message: `LoRA with name ${body.lora_name} already loaded` }];
      return [200, { success: true, loaded_adapters: await readAdapter(body.lora_name, body.lora_path) }];
    },
    "/v1/unload_lora_adapter": async (body) => [200, server.adapters.delete(body.lora_name)],
    "/unload_lora_adapter": async (body) => [200, { success: server.adapters.delete(body.lora_name) }],
    "/inference/v1/generate": async (body) => {
      const { max_tokens: maxTokens, temperature, seed, stop } = body.sampling_params;
      const ask = { tokens: body.token_ids, temperature, maxTokens, seed, stop, adapter: body.model };
      const done = await write(ask);
      if (done === undefined) return [404, { error: { message: `The model ${body.model} does not exist.` } }];
      const content = done.tokens.map((token, at) => ({ token_id: token, logprob: done.logprobs[at] }));
      const choice = {
        index: 0,
        token_ids: done.tokens,
        logprobs: { content },
        finish_reason: done.finishReason,
      };
      return [200, { request_id: body.request_id, choices: [{ ...choice, weight_versions: spans(done) }] }];
    },
    "/generate": async (body) => {
      const { max_new_tokens: maxTokens, temperature, sampling_seed: seed, stop } = body.sampling_params;
      const ask = { tokens: body.input_ids, temperature, maxTokens, seed, stop, adapter: body.lora_path };
      const done = await write(ask);
      if (done === undefined) return [400, { error: { message: `${body.lora_path} is not loaded` } }];
      const meta = {
        id: body.rid,
        finish_reason: { type: done.finishReason },
        output_token_logprobs: done.tokens.map((token, at) => [done.logprobs[at], token, null]),
        weight_versions: spans(done),
      };
      return [200, { text: done.text, output_ids: done.tokens, meta_info: meta }];
    },
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const body = request.method === "POST" ? await json(request).catch(() => ({})) : {};
    const writes = pathname.endsWith("/generate");
    if (writes) server.asked.push(Object(body).request_id ?? Object(body).rid);
    const fault = writes ? server.faults.shift() : undefined;
    if (fault === "silence" || (pathname === "/health" && !server.isWell)) return;
    if (fault === "drop") return void request.socket.destroy();
    const [status, value] = fault === "error" ? [500, "out of memory"] : await answered(pathname, body);
    const text = JSON.stringify(spoilt(value, fault) ?? {});
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    if (fault !== "half") return void response.end(text);
    response.write(text.slice(0, text.length / 2));
    request.socket.end();
  };
  const answered = async (path: string, body: unknown) =>
    (await answers[path]?.(body)) ?? [404, { detail: "Not Found" }];

  let http = createServer(serve);
  const start = async () => {
    http = createServer(serve);
    http.listen(port, "127.0.0.1");
    await once(http, "listening");
    port = (http.address() as AddressInfo).port;
    server.url = `http://127.0.0.1:${port}`;
  };
  const die = async () => {
    http.closeAllConnections();
    http.close();
    await once(http, "close");
    label = "default";
    version = 0;
    adapters.clear();
    resume();
  };
  const stopServer = async () => {
    if (http.listening) await die();
    await policy.close();
  };
  const server: InferenceServer = {
    url: "",
    isWell: true,
    asked: [],
    loads: [],
    faults: [],
    adapters: new Set<string>(),
    written: new Map<string, number>(),
    die,
    start,
    stop: stopServer,
  };
  await start();
  return server;
}

const spans = ({ by, tokens }: Generation & { by: string }) => [
  { version: by, start: 0, end: tokens.length },
];

/** An answer as one gets it whose server ended the action, or changed the weights while it wrote. */
function spoilt(value: unknown, fault: Fault | undefined): unknown {
  const text = JSON.stringify(value);
  if (fault === "abort")
    return JSON.parse(
      text.replace(
        /"finish_reason":("\w+"|\{[^}]*\})/,
        (_, was: string) => `"finish_reason":${was.startsWith("{") ? '{"type":"abort"}' : '"abort"'}`,
      ),
    );
  if (fault === "updated")
    return JSON.parse(text.replace(/"start":0,"end":\d+/, '$&},{"version":"other","start":1,"end":2'));
  return value;
}
