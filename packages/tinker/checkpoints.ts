import { TinkerError } from "./errors.ts";
import { downloadTo } from "./http/download.ts";
import { type Fields, fieldsOf, listOf, optionalNumber, optionalText, textOf } from "./http/json.ts";
import { send } from "./http/send.ts";
import type { Transport } from "./transport.ts";
import type { RequestOptions, SubmitOptions } from "./types.ts";
import { invalid } from "./wire/tensors.ts";

/** A saved checkpoint. */
export interface Checkpoint {
  readonly id: string;
  /** `training`: with the optimizer's state; `sampler`: for sampling and download; `external`: in another format. */
  readonly type: string;
  /** Its address, such as `tinker://model_1/weights/step-3`. */
  readonly path: string;
  /** When it was created, in the server's form. */
  readonly time: string | undefined;
  readonly sizeBytes: number | undefined;
}

/** Facts about saved weights. */
export interface WeightsInfo {
  readonly baseModel: string;
  readonly isLora: boolean;
  readonly loraRank: number | undefined;
}

/** A part of a long list. */
export interface PageOptions extends RequestOptions {
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Default 0. */
  readonly offset?: number | undefined;
}

/** Options of `copy`. */
export interface CopyOptions extends SubmitOptions {
  readonly destinationProjectId: string;
  readonly ttlSeconds?: number | undefined;
  /** Opens weights of another account. */
  readonly weightsAccessToken?: string | undefined;
}

/** The checkpoints on a server. Which of these calls a server offers differs; the others throw `not-supported`. */
export class TinkerCheckpoints {
  readonly #transport: Transport;

  /** Use `client.checkpoints`. */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A model's checkpoints. */
  async list(modelId: string, options: RequestOptions = {}): Promise<Checkpoint[]> {
    const path = `training_runs/${encodeURIComponent(modelId)}/checkpoints`;
    const fields = await this.#transport.ask("GET", path, undefined, options);
    return listOf(fields, "checkpoints").map(checkpointOf);
  }

  /** The account's checkpoints, of all models. */
  async listAll(options: PageOptions = {}): Promise<Checkpoint[]> {
    const { limit = 100, offset = 0 } = options;
    const fields = await this.#transport.ask(
      "GET",
      `checkpoints?limit=${limit}&offset=${offset}`,
      undefined,
      options,
    );
    return listOf(fields, "checkpoints").map(checkpointOf);
  }

  /** What the weights at a path are. */
  async info(path: string, options: RequestOptions = {}): Promise<WeightsInfo> {
    const fields = await this.#transport.ask("POST", "weights_info", { tinker_path: path }, options);
    return {
      baseModel: textOf(fields, "base_model"),
      isLora: fields.is_lora === true,
      loraRank: optionalNumber(fields, "lora_rank"),
    };
  }

  /** Deletes a checkpoint. Resolves too if the server has none at this path. */
  async delete(path: string, options: SubmitOptions = {}): Promise<void> {
    try {
      await this.#change("DELETE", path, "", undefined, options);
    } catch (error) {
      if (!(error instanceof TinkerError) || error.code !== "unknown-checkpoint") throw error;
    }
  }

  /** Lets everyone read a checkpoint. */
  publish(path: string, options: SubmitOptions = {}): Promise<void> {
    return this.#change("POST", path, "/publish", undefined, options);
  }

  /** Takes back `publish`. */
  unpublish(path: string, options: SubmitOptions = {}): Promise<void> {
    return this.#change("DELETE", path, "/publish", undefined, options);
  }

  /** Has the server delete a checkpoint after that many seconds, at least 3600; undefined for never. */
  setTtl(path: string, ttlSeconds: number | undefined, options: SubmitOptions = {}): Promise<void> {
    return this.#change("PUT", path, "/ttl", { ttl_seconds: ttlSeconds ?? null }, options);
  }

  /** Copies a checkpoint into a project, and returns the copy's path. Repetitions carry the same idempotency key. */
  async copy(path: string, options: CopyOptions): Promise<string> {
    const { destinationProjectId, ttlSeconds, weightsAccessToken } = options;
    const { fields } = await this.#transport.submit(
      {
        method: "POST",
        path: "copy_weights",
        body: {
          source_path: path,
          destination_project_id: destinationProjectId,
          ttl_seconds: ttlSeconds,
        },
        headers:
          weightsAccessToken === undefined ? {} : { "x-tinker-weights-access-token": weightsAccessToken },
      },
      options,
    );
    return textOf(fields, "tinker_path");
  }

  /**
   * Downloads a checkpoint's archive, a `.tar.gz` of the adapter, to a file. The file appears when it is complete. Returns its
   * size in bytes. SkyRL offers this for checkpoints that `saveWeightsForSampler({ path })` saved.
   */
  async download(path: string, file: string, options: RequestOptions = {}): Promise<number> {
    const { connection } = this.#transport;
    const { run, kind, name } = partsOf(path);
    const address = (id: string) => `training_runs/${run}/checkpoints/${id}/archive`;
    try {
      return await downloadTo(connection, address(`${kind}/${name}`), file, options.signal);
    } catch (error) {
      // SkyRL's address has the name alone, and it answers 405 to this one.
      const isOther = error instanceof TinkerError && (error.status === 404 || error.status === 405);
      if (!isOther) throw error;
      return downloadTo(connection, address(name), file, options.signal);
    }
  }

  /** Signed addresses of the files of a checkpoint in external format, by file name. */
  async externalUrls(path: string, options: RequestOptions = {}): Promise<Readonly<Record<string, string>>> {
    const { run, kind, name } = partsOf(path);
    const address = `training_runs/${run}/checkpoints/${kind}/${name}/external_weights_urls`;
    const { urls } = await this.#transport.ask("GET", address, undefined, options);
    const texts = Object.entries(fieldsOf(urls, "urls")).filter((entry): entry is [string, string] => {
      return typeof entry[1] === "string";
    });
    return Object.fromEntries(texts);
  }

  async #change(
    method: "POST" | "PUT" | "DELETE",
    path: string,
    suffix: string,
    body: unknown,
    options: SubmitOptions,
  ): Promise<void> {
    const { run, kind, name } = partsOf(path);
    // Hatchery calls the kind of all its checkpoints `checkpoints`, and its addresses have the name alone.
    const id = kind === "checkpoints" ? name : `${kind}/${name}`;
    await send(this.#transport.connection, {
      method,
      path: `training_runs/${run}/checkpoints/${id}${suffix}`,
      body,
      repeatable: options.repeatable ?? true,
      signal: options.signal,
    });
  }
}

/** SkyRL leaves the kind out of the paths of weights for sampling. */
function partsOf(path: string): { run: string; kind: string; name: string } {
  const [, run, kind = "sampler_weights", name] =
    /^tinker:\/\/([^/]+)(?:\/([^/]+))?\/([^/]+)$/.exec(path) ?? [];
  if (run === undefined || name === undefined)
    throw invalid(`${path} is not a path like tinker://model/weights/name`);
  return { run: encodeURIComponent(run), kind: encodeURIComponent(kind), name: encodeURIComponent(name) };
}

function checkpointOf(value: unknown): Checkpoint {
  const fields = fieldsOf(value, "a checkpoint");
  return {
    id: textOf(fields, "checkpoint_id"),
    type: optionalText(fields, "checkpoint_type") ?? "training",
    path: textOf(fields, "tinker_path"),
    time: timeOf(fields),
    sizeBytes: optionalNumber(fields, "size_bytes"),
  };
}

/** Hatchery sends seconds since 1970. */
function timeOf(fields: Fields): string | undefined {
  const seconds = optionalNumber(fields, "time");
  return seconds === undefined ? optionalText(fields, "time") : new Date(seconds * 1000).toISOString();
}
