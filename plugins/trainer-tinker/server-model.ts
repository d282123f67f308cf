import type { ServerDatum } from "./exact-data.ts";

/** The optimizer's numbers of one update: AdamW with decoupled weight decay. */
export interface OptimizerNumbers {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  /** Absent if gradients are not clipped. */
  gradientClip?: number;
}

/** The numbers that a server returns in addition to a result, by its own names. */
export type ServerMetrics = Readonly<Record<string, number>>;

/** The results of a pass. */
export interface PassResult {
  /** Of each datum's targets, before the next update. */
  logprobs: readonly Float32Array[];
  metrics: ServerMetrics;
}

/** A model on a server. Its calls are made one after the other, and each has the next number of the model's sequence. */
export interface ServerModel {
  /** The server's name of the model. */
  readonly id: string;
  /** The checkpoint from which it was loaded. Absent if it began with the server's base weights. */
  readonly loaded?: string | undefined;
  /** The number of the last call. */
  readonly lastNumber: number;
  /** Returns the log-probabilities of each datum's targets. */
  forward(data: readonly ServerDatum[]): Promise<Float32Array[]>;
  /** Adds the gradient of a loss. `config` are the loss's settings by the server's names. */
  forwardBackward(
    data: readonly ServerDatum[],
    loss: string,
    config?: Readonly<Record<string, number>>,
  ): Promise<PassResult>;
  /** Adds the gradient whose derivatives with respect to the log-probabilities are given, in two calls. */
  customBackward(data: readonly ServerDatum[], gradients: readonly Float32Array[]): Promise<ServerMetrics>;
  /** Makes one update. */
  optimStep(numbers: OptimizerNumbers): Promise<ServerMetrics>;
  /** Saves the weights and the optimizer's state. Returns the path from which a new model can load them. */
  save(name: string): Promise<string>;
  /** Releases the model. */
  unload(): Promise<void>;
}

/** A server on which models are made. */
export interface ModelServer {
  /** Creates a model with fresh weights. */
  create(): Promise<ServerModel>;
  /** Creates a model from a saved one, with the optimizer's state or without. */
  load(path: string, optimizer: boolean): Promise<ServerModel>;
  /** Downloads the adapter of a saved model into a folder, in PEFT's format. */
  download(path: string, folder: string): Promise<void>;
  /** Ends the session. */
  close(): Promise<void>;
}
