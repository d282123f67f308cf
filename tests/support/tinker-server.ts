import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";
import { checkAdam, firstStep, returnToFirstSaved, secondStep } from "./tinker-server/hatchery.ts";
import { type SamplesFrom, type ServedCheckpoint, ServedModel, sampled } from "./tinker-server/models.ts";
import { Refusal } from "./tinker-server/refusal.ts";
import {
  type PassRequest,
  passFromJson,
  passFromProtobuf,
  passOutput,
  sampleOutput,
} from "./tinker-server/wire.ts";

/**
 * Whose rules for numbers, repetitions and restarts a server follows, as SkyRL 0.4.0, TuFT 0.2.2 and Hatchery 0.3.0 publish them
 * in their sources:
 * - `skyrl`: a repeated number gets the first future, and runs once; with another body 409. Futures and checkpoints survive a
 *   restart, models don't. Loading is a model's first request.
 * - `tuft`: numbers count from 1 without gaps, or the future fails with 409; a failed number may be repeated or skipped. At a
 *   restart a model returns to its newest checkpoint, and later futures fail with 410. Its next number stays as it was.
 * - `none` (Hatchery): a repeated number gets the first future, but runs again. Later checkpoints of a model repeat its first
 *   one. A restart forgets everything, or with stores on disk everything but checkpoints and what was last saved of models.
 */
export type Numbering = "skyrl" | "tuft" | "none";

/** A request that a server got. */
export interface ServedCall {
  /** The path below `/api/v1/`, without a query. */
  path: string;
  seqId: number | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Where a connection breaks: before the server executes the request, or after that. */
export type Fault = "before" | "after";

/** Options of a server. */
export interface TinkerServerOptions {
  numbering: Numbering;
  /** Default: protobuf, and JSON for `none`. */
  wire?: "protobuf" | "json";
  /** How long each request takes to execute, in milliseconds. Default 0. */
  workMs?: number;
  /** Which connections break. */
  fault?: (call: ServedCall) => Fault | undefined;
  /** Where Hatchery keeps checkpoints. Default: in memory. */
  stores?: "memory" | "disk";
  /** Which requests fail when they are executed: the reason, or undefined. */
  failing?: (call: Pick<ServedCall, "path" | "seqId">) => string | undefined;
  /** Creates a model. Default: one without arithmetic. */
  newModel?: (...given: ConstructorParameters<typeof ServedModel>) => ServedModel;
  /** Draws a sequence. Default: tokens without arithmetic. */
  sample?: SamplesFrom;
  /** The only base model. A model under another name gets it too, as SkyRL does it. Default `tiny`. */
  baseModel?: string;
  /** Returns the archive of a checkpoint for sampling, which is at SkyRL's address. Default: it offers none. */
  archive?: (history: ServedModel["history"]) => Uint8Array;
  /** The files of all external weights, at addresses of their own as on Tinker. Default: it offers none. */
  files?: ReadonlyMap<string, Uint8Array>;
}

interface Future {
  id: string;
  order: number;
  modelId: string | undefined;
  state: "pending" | "done" | "failed";
  /** The JSON result, or protobuf bytes. */
  result?: unknown;
  status?: number;
  detail?: string;
  /** Ends the wait of polls. */
  settle: () => void;
  settled: Promise<void>;
}

type Body = ReturnType<typeof JSON.parse>;

/** A training server that speaks Tinker's API, without a real model: its weights are the list of what made them. */
export class TinkerServer {
  readonly options: TinkerServerOptions;
  /** Every request, in order. */
  readonly calls: ServedCall[] = [];
  /** Every executed optimizer step, in order, including those that a restart undid. */
  readonly steps: { modelId: string; seqId: number | undefined }[] = [];
  readonly models = new Map<string, ServedModel>();
  readonly checkpoints = new Map<string, ServedCheckpoint>();
  readonly #futures = new Map<string, Future>();
  readonly #first = new Map<string, { request: string; future: Future }>();
  /** What sampling sessions sample from: a checkpoint, or the base model. */
  readonly #samplers = new Map<string, ServedCheckpoint | undefined>();
  #server: Server | undefined;
  #port = 0;
  #count = 0;
  #life = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(options: TinkerServerOptions) {
    this.options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens on the same port each time. */
  async start(): Promise<this> {
    const server = createServer(async (request, response) => {
      const body = await buffer(request);
      const path = (request.url ?? "").replace(/^\/api\/v1\//, "").replace(/\?.*/, "");
      const { headers, method = "" } = request;
      const isBinary = headers["content-type"] === "application/x-protobuf";
      const bytes = headers["content-encoding"] === "zstd" ? zstdDecompressSync(body) : body;
      const parsed: Body = isBinary || bytes.length === 0 ? {} : JSON.parse(bytes.toString());
      const pass = passOf(path, isBinary ? bytes : undefined, parsed);
      const call = { path, seqId: pass?.seqId ?? parsed.seq_id, headers };
      this.calls.push(call);
      const fault = this.options.fault?.(call);
      if (fault === "before") return void request.socket.destroy();
      const respond =
        fault === "after" ? () => void request.socket.destroy() : answer.bind(undefined, response);
      try {
        respond(await this.#route(`${method} ${path}`, { parsed, pass, isBinary, headers }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        respond({ status: error.status, json: { detail: error.message } });
      }
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    this.#port = typeof address === "object" && address !== null ? address.port : 0;
    this.#server = server;
    return this;
  }

  /** Stops listening, and breaks all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }

  /** Dies and starts again on the same port, with what its rules keep. Requests under way are lost. */
  async restart(): Promise<void> {
    await this.stop();
    this.#life += 1;
    this.#work = Promise.resolve();
    const { numbering } = this.options;
    if (numbering === "skyrl") this.#unloadAll();
    if (numbering === "tuft") for (const model of this.models.values()) this.#returnToCheckpoint(model);
    if (numbering === "none") this.#forget();
    await this.start();
  }

  #forget(): void {
    for (const kept of [this.#futures, this.#first, this.#samplers]) kept.clear();
    if (this.options.stores !== "disk") {
      this.models.clear();
      this.checkpoints.clear();
      return;
    }
    for (const model of this.models.values()) returnToFirstSaved(model);
  }

  #unloadAll(): void {
    for (const model of this.models.values()) model.isLoaded = false;
    for (const future of this.#futures.values())
      if (future.state === "pending") fail(future, 400, `Model ${future.modelId} not loaded`);
  }

  #returnToCheckpoint(model: ServedModel): void {
    const own = [...this.checkpoints.values()].filter(({ modelId }) => modelId === model.id);
    const newest = own.toSorted((a, b) => a.order - b.order).at(-1);
    model.history = newest?.history ?? model.history.slice(0, 1);
    model.gradients = [];
    const reason = newest
      ? `Server restored from checkpoint ${newest.name}. Operations after this checkpoint need to be retried.`
      : `No checkpoint found for model ${model.id}. Please retry.`;
    for (const future of this.#futures.values())
      if (future.modelId === model.id && future.order > (newest?.order ?? 0))
        fail(future, 410, `Future with request ID ${future.id} was cancelled: ${reason}`);
  }

  async #route(route: string, request: Received): Promise<Reply> {
    const { parsed } = request;
    const { numbering } = this.options;
    const isTuft = numbering === "tuft";
    switch (route) {
      case "GET healthz":
        return { json: { status: "ok" } };
      case "GET get_server_capabilities":
        return { json: { supported_models: [{ model_name: this.#baseModel }] } };
      case "POST client/config":
        return { json: {} };
      case "POST create_session":
        return { status: isTuft ? 201 : 200, json: { session_id: this.#name("session") } };
      case "POST session_heartbeat":
        return { json: { type: "session_heartbeat" } };
      case "POST create_model": {
        const { newModel = (...given) => new ServedModel(...given) } = this.options;
        const model = newModel(this.#name("model"), this.#baseModel, parsed.lora_config?.seed);
        this.models.set(model.id, model);
        return this.#accepted(this.#done({ model_id: model.id, base_model: model.baseModel }, model.id));
      }
      case "POST get_info":
        return {
          json: { model_id: this.#model(parsed.model_id).id, model_data: { model_name: this.#baseModel } },
        };
      case "POST unload_model": {
        const { id } = this.#model(parsed.model_id);
        this.models.delete(id);
        return this.#accepted(this.#done({ model_id: id, type: "unload_model" }, id));
      }
      case "POST forward_backward":
      case "POST forward":
        return this.#accepted(this.#pass(route, request));
      case "POST forward_backward_custom_step1":
      case "POST forward_backward_custom_step2":
        return this.#accepted(this.#customStep(route, request));
      case "POST optim_step":
        return this.#accepted(this.#optimStep(parsed));
      case "POST save_weights":
      case "POST save_weights_for_sampler":
        return this.#accepted(this.#save(parsed, route === "POST save_weights"));
      case "POST save_weights_external":
        return this.#accepted(
          this.#later(this.#model(parsed.model_id), () => ({
            path: `tinker://${parsed.model_id}/external_weights/${parsed.path}`,
          })),
        );
      case "POST load_weights":
        return this.#accepted(this.#load(parsed));
      case "POST create_sampling_session": {
        const { model_path: path } = parsed;
        const checkpoint = this.checkpoints.get(path);
        if (path && checkpoint === undefined) throw new Refusal(404, `Checkpoint not found: ${path}`);
        const sampler = this.#name("sampling");
        this.#samplers.set(sampler, checkpoint);
        return { status: isTuft ? 201 : 200, json: { sampling_session_id: sampler } };
      }
      case "POST asample":
        return this.#accepted(this.#sample(parsed));
      case "POST retrieve_future":
        return this.#retrieve(parsed.request_id, request);
      default:
        return route.startsWith("DELETE ") ? this.#delete(route) : this.#archive(route);
    }
  }

  /** Deletes a checkpoint. Hatchery does it only for models that were not released. */
  #delete(route: string): Reply {
    const [, id = "", kind = "", name = ""] =
      /^DELETE training_runs\/([^/]+)\/checkpoints\/(?:([^/]+)\/)?([^/]+)$/.exec(route) ?? [];
    const isHatchery = this.options.numbering === "none";
    if (isHatchery && !this.models.has(id)) throw new Refusal(410, "Session is terminated");
    const isThere = this.checkpoints.delete(`tinker://${id}/${isHatchery ? "checkpoints" : kind}/${name}`);
    if (!isThere && !isHatchery) throw new Refusal(404, `Checkpoint not found: ${id}/${name}`);
    return isHatchery ? { json: { deleted: true } } : { status: 204 };
  }

  #archive(route: string): Reply {
    const { archive, files } = this.options;
    const addresses = [...(files?.keys() ?? [])].map((file) => [file, `${this.url}/signed/${file}`]);
    if (files && /\/external_weights\/[^/]+\/external_weights_urls$/.test(route))
      return { json: { urls: Object.fromEntries(addresses) } };
    const bytes = files?.get(route.replace("GET /signed/", ""));
    if (bytes !== undefined) return { bytes };
    const [, model, name] = /^GET training_runs\/([^/]+)\/checkpoints\/([^/]+)\/archive$/.exec(route) ?? [];
    if (archive === undefined || model === undefined) throw new Refusal(404, "Not Found");
    const checkpoint = `tinker://${model}/sampler_weights/${name}`;
    const saved = this.checkpoints.get(checkpoint);
    if (saved === undefined) throw new Refusal(404, `Checkpoint not found: ${checkpoint}`);
    return { bytes: archive(saved.history) };
  }

  #pass(route: string, { isBinary, pass }: Received): Future {
    const wantsProtobuf = this.#wire === "protobuf";
    if (wantsProtobuf && route === "POST forward") throw new Refusal(404, "Not Found");
    if (wantsProtobuf && !isBinary)
      throw new Refusal(
        415,
        "forward_backward requires a application/x-protobuf body (tinker SDK >= 0.25.0)",
      );
    if (pass === undefined || isBinary !== wantsProtobuf) throw new Refusal(422, "body: Field required");
    const { modelId, seqId, isForward } = pass;
    const model = this.#model(modelId);
    const kind = isForward ? "forward" : "forward_backward";
    return this.#numbered(model, kind, seqId, pass, () => {
      const logprobs = model.logprobs(pass.pass);
      if (!isForward) model.accumulate(pass.pass);
      return { logprobs };
    });
  }

  #customStep(route: string, { parsed, pass }: Received): Future {
    if (this.options.numbering !== "none") throw new Refusal(404, "Not Found");
    const model = this.#model(parsed.model_id);
    const { custom_id, grad_logprobs } = parsed.forward_backward_input;
    return this.#later(model, () =>
      route === "POST forward_backward_custom_step1"
        ? firstStep(model, custom_id, pass)
        : secondStep(model, custom_id, grad_logprobs),
    );
  }

  #optimStep({ model_id, seq_id, adam_params }: Body): Future {
    const model = this.#model(model_id);
    if (this.options.numbering === "none") checkAdam(adam_params);
    return this.#numbered(model, "optim_step", seq_id, adam_params, () => {
      const metrics = model.step(adam_params);
      this.steps.push({ modelId: model.id, seqId: seq_id });
      return { metrics: { step: model.steps, ...metrics } };
    });
  }

  #save({ model_id, seq_id, path, sampling_session_seq_id }: Body, isTraining: boolean): Future {
    const model = this.#model(model_id);
    const name: string = path ?? `ss${sampling_session_seq_id}_seq${seq_id}`;
    const kind = isTraining ? "weights" : "sampler_weights";
    const address = `tinker://${model.id}/${this.options.numbering === "none" ? "checkpoints" : kind}/${name}`;
    if (this.options.numbering === "skyrl" && this.checkpoints.has(address))
      throw new Refusal(409, `Checkpoint '${name}' already exists for model '${model.id}'`);
    const sampler = isTraining || path !== undefined ? undefined : this.#name("sampling");
    const save = () => {
      const isHatchery = this.options.numbering === "none";
      model.firstSaved ??= { history: model.history, steps: model.steps };
      const { history } = isHatchery ? model.firstSaved : model;
      const saved = { modelId: model.id, name, history, order: this.#count };
      this.checkpoints.set(address, saved);
      if (sampler !== undefined) this.#samplers.set(sampler, saved);
      return { path: sampler === undefined ? address : null, sampling_session_id: sampler };
    };
    // Only TuFT looks at the number of a request to save or load.
    if (this.options.numbering === "tuft") return this.#numbered(model, kind, seq_id, path, save);
    return this.#later(model, save);
  }

  #load({ model_id, seq_id, path, optimizer }: Body): Future {
    const model = this.#model(model_id);
    const { numbering } = this.options;
    if (numbering === "skyrl" && model.requests > 0)
      throw new Refusal(400, `LoadWeights is not permitted with seq_id ${seq_id}`);
    const checkpoint = this.checkpoints.get(path);
    if (checkpoint === undefined) throw new Refusal(404, `Checkpoint not found: ${path}`);
    const load = () => {
      model.history = optimizer ? checkpoint.history : [...checkpoint.history, "new optimizer state"];
      model.gradients = [];
      return { type: "load_weights", path };
    };
    if (numbering === "tuft") return this.#numbered(model, "load_weights", seq_id, path, load);
    return this.#later(model, load);
  }

  #sample({ prompt, num_samples, sampling_params, sampling_session_id, model_path }: Body): Future {
    const isTuft = this.options.numbering === "tuft";
    if (isTuft && sampling_session_id === undefined) throw new Refusal(404, "Session None not found.");
    if (sampling_session_id !== undefined && !this.#samplers.has(sampling_session_id))
      throw new Refusal(404, "Sampling session not found");
    const checkpoint =
      sampling_session_id === undefined
        ? this.checkpoints.get(model_path)
        : this.#samplers.get(sampling_session_id);
    if (model_path && checkpoint === undefined) throw new Refusal(404, `Checkpoint not found: ${model_path}`);
    const { stop = [], seed, temperature = 1, max_tokens: maxTokens } = sampling_params;
    const request = {
      prompt: prompt.chunks.flatMap((chunk: { tokens: number[] }) => chunk.tokens),
      seed,
      temperature,
      maxTokens,
      stop,
    };
    const { sample = sampled } = this.options;
    // TuFT's samplers need no model, and TuFT has restored them by the time that it answers after a restart.
    const model = checkpoint && !isTuft ? this.models.get(checkpoint.modelId) : undefined;
    const isLost = checkpoint !== undefined && !isTuft && model === undefined;
    return this.#later(model, () => {
      if (isLost) throw new Refusal(400, `Model ${checkpoint.modelId} not loaded`);
      const history = model === undefined ? (checkpoint?.history ?? []) : this.#loadedFor(model, checkpoint!);
      const sequences = Array.from({ length: num_samples }, (_, index) => sample(history, request, index));
      return { sequences };
    });
  }

  /**
   * The weights that SkyRL on JAX samples from (`load_sampler_weights`): it loads a checkpoint into the model that saved
   * it, unless it believes to have done so already, and doesn't notice that the model was trained since then.
   */
  #loadedFor(model: ServedModel, { name, history }: ServedCheckpoint): ServedModel["history"] {
    if (this.options.numbering !== "skyrl") return history;
    if (model.sampledName !== name) model.history = history;
    model.sampledName = name;
    return model.history;
  }

  async #retrieve(id: string, { headers }: Received): Promise<Reply> {
    const future = this.#futures.get(id);
    const isHatchery = this.options.numbering === "none";
    if (future === undefined)
      throw new Refusal(404, isHatchery ? "request_id not found" : "Future not found");
    await Promise.race([future.settled, sleep(2000, undefined, { ref: false })]);
    const { state, result, status = 400, detail = "" } = future;
    if (state === "pending" && isHatchery) return { json: { type: "try_again", request_id: id } };
    if (state === "pending") throw new Refusal(408, "Timeout waiting for result");
    if (state === "failed" && isHatchery)
      return { json: { type: "request_failed", error: detail, category: "user_error" } };
    const prefix = this.options.numbering === "tuft" ? "Failed to retrieve future: " : "";
    if (state === "failed") throw new Refusal(status, `${prefix}${detail}`);
    return this.#wire === "protobuf" && `${headers.accept}`.includes("x-protobuf")
      ? binary(result)
      : json(result);
  }

  /** Executes a request under the rules for numbers. */
  #numbered(
    model: ServedModel,
    kind: string,
    seqId: number | undefined,
    request: unknown,
    execute: () => unknown,
  ): Future {
    const { numbering, failing } = this.options;
    const work = () => {
      const reason = failing?.({ path: kind, seqId });
      if (reason !== undefined) throw new Refusal(400, reason);
      return execute();
    };
    if (numbering === "tuft") return this.#later(model, () => inSequence(model, seqId, work));
    const key = numbering === "none" ? `${kind} ${model.id} ${seqId}` : `${model.id} ${seqId}`;
    const same = JSON.stringify([kind, request]);
    const first = seqId ? this.#first.get(key) : undefined;
    if (first !== undefined && numbering === "skyrl") {
      if (first.request !== same) throw new Refusal(409, "Training request sequence number was reused");
      return first.future;
    }
    const future = this.#later(model, work);
    if (first !== undefined) return first.future; // it runs again all the same
    if (seqId) this.#first.set(key, { request: same, future });
    return future;
  }

  /** Executes a request after those before it. */
  #later(model: ServedModel | undefined, execute: () => unknown): Future {
    const future = this.#future(model?.id);
    if (model !== undefined) model.requests += 1;
    const life = this.#life;
    this.#work = this.#work.then(async () => {
      if (this.options.workMs !== undefined) await sleep(this.options.workMs);
      if (life !== this.#life) return;
      if (model?.isLoaded === false) return fail(future, 400, this.#whyNotLoaded(model));
      try {
        finish(future, execute());
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        fail(future, error.status, error.message);
      }
    });
    return future;
  }

  #whyNotLoaded({ id }: ServedModel): string {
    return this.options.numbering === "none"
      ? `KeyError: 'sessions/${id}/live_state/session_meta.json'`
      : `Model ${id} not loaded`;
  }

  #done(result: unknown, modelId: string): Future {
    const future = this.#future(modelId);
    finish(future, result);
    return future;
  }

  #future(modelId: string | undefined): Future {
    const id = this.#name("request");
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    const future: Future = { id, order: this.#count, modelId, state: "pending", settle, settled };
    this.#futures.set(id, future);
    return future;
  }

  #accepted({ id, modelId }: Future): Reply {
    return {
      status: this.options.numbering === "tuft" ? 202 : 200,
      json: { request_id: id, model_id: modelId ?? null },
    };
  }

  #model(id: string): ServedModel {
    const model = this.models.get(id);
    if (model !== undefined) return model;
    const details = { skyrl: "Model not found", tuft: `Unknown model: ${id}`, none: "model_id not found" };
    throw new Refusal(404, details[this.options.numbering]);
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}-${this.#life}-${this.#count}`;
  }

  get #wire(): "protobuf" | "json" {
    return this.options.wire ?? (this.options.numbering === "none" ? "json" : "protobuf");
  }

  get #baseModel(): string {
    return this.options.baseModel ?? "tiny";
  }
}

interface Received {
  parsed: Body;
  pass: PassRequest | undefined;
  isBinary: boolean;
  headers: ServedCall["headers"];
}

interface Reply {
  status?: number;
  json?: unknown;
  bytes?: Uint8Array;
}

function passOf(path: string, bytes: Uint8Array | undefined, parsed: Body): PassRequest | undefined {
  if (!["forward_backward", "forward", "forward_backward_custom_step1"].includes(path)) return undefined;
  return bytes ? passFromProtobuf(bytes) : passFromJson(parsed, path === "forward");
}

/** TuFT's rule: the next number, or the one after a number that failed. */
function inSequence(model: ServedModel, seqId: number | undefined, execute: () => unknown): unknown {
  if (seqId === undefined) return execute();
  const expected = model.nextSeqId;
  const skipsFailed = seqId === expected + 1 && model.failedSeqId === expected;
  if (seqId !== expected && !skipsFailed)
    throw new Refusal(409, `Sequence conflict: expected ${expected}, got ${seqId}.`);
  model.nextSeqId = seqId;
  model.failedSeqId = undefined;
  try {
    const result = execute();
    model.nextSeqId += 1;
    return result;
  } catch (error) {
    model.failedSeqId = seqId;
    throw error;
  }
}

function finish(future: Future, result: unknown): void {
  Object.assign(future, { state: "done", result });
  future.settle();
}

function fail(future: Future, status: number, detail: string): void {
  Object.assign(future, { state: "failed", status, detail });
  future.settle();
}

function answer(response: ServerResponse, { status = 200, json: value, bytes }: Reply): void {
  response.writeHead(status, { "content-type": bytes ? "application/x-protobuf" : "application/json" });
  response.end(bytes ?? JSON.stringify(value));
}

function binary(result: Body): Reply {
  if (result.logprobs !== undefined) return { bytes: passOutput(result.logprobs) };
  if (result.sequences !== undefined) return { bytes: sampleOutput(result.sequences) };
  return json(result);
}

function json(result: Body): Reply {
  if (result.logprobs !== undefined && result.isCustom !== true) {
    const outputs = result.logprobs.map((row: number[]) => ({
      logprobs: { data: row, dtype: "float32", shape: [row.length] },
    }));
    return { json: { loss_fn_output_type: "scalar", loss_fn_outputs: outputs, metrics: {} } };
  }
  if (result.sequences === undefined) return { json: result };
  return { json: { sequences: result.sequences, prompt_logprobs: null } };
}
