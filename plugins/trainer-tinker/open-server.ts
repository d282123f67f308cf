import { randomUUID } from "node:crypto";
import type { Datum, FutureTicket, TinkerModel } from "@everturn/tinker";
import { adapterParams, connect, type Requester, releaseModels } from "./connection.ts";
import { downloadAdapter } from "./download-adapter.ts";
import type { ServerDatum } from "./exact-data.ts";
import { profiles, type ServerProfile } from "./profiles.ts";
import { requestCounts } from "./request-counts.ts";
import type { ModelServer, ServerModel } from "./server-model.ts";
import type { ServerTrainerConfig } from "./settings.ts";

/**
 * Opens a session on a server, whose new models begin with the adapter of `seed`. Its methods, and those of its models,
 * throw the errors of a connection's calls.
 */
export async function openServer(config: ServerTrainerConfig, seed?: number): Promise<ModelServer> {
  const { baseModel, server } = config;
  const profile = profiles[server];
  const { client, call, close, openSession } = connect(config, "TRAINER_CLOSED");
  const session = await openSession();
  const lora = { ...adapterParams(config.lora), seed };
  const models = new Set<TinkerModel>();
  const create = async () => {
    const model = await call((options) => session.createModel({ baseModel, lora }, options));
    models.add(model);
    return model;
  };
  const release = async (model: TinkerModel) => {
    models.delete(model);
    await call((options) => model.unload(options));
  };
  const check = async (ticket: FutureTicket) => {
    if (profile.rollsBack === true) await call((options) => client.future(ticket).result(options));
  };
  const serve = (model: TinkerModel, loaded?: { path: string; ticket: FutureTicket }): ServerModel => ({
    ...modelCalls(model, call, { first: loaded?.ticket, check, counters: profile.counters }),
    loaded: loaded?.path,
    get lastNumber() {
      return model.nextSeqId - 1;
    },
    unload: () => release(model),
  });
  const load = async (path: string, optimizer: boolean) => {
    const model = await create();
    // Some servers allow it only as the first request, so it can't be repeated.
    const future = await call((options) =>
      model.submitLoadWeights(path, { ...options, optimizer, repeatable: false }),
    );
    await call((options) => future.result(options));
    return { model, ticket: future.ticket };
  };
  return {
    create: async () => serve(await create()),
    async load(path, optimizer) {
      const { model, ticket } = await load(path, optimizer);
      return serve(model, { path, ticket });
    },
    async download(path, folder) {
      const { model } = await load(path, false); // servers offer only current weights
      await downloadAdapter(profile.downloads, { client, call }, model, folder);
      await release(model);
    },
    async close() {
      close();
      await releaseModels(models);
      session.close();
    },
  };
}

/** How to find out that a server undid requests, or ran them twice. */
interface ModelChecks {
  /** The first request that must not be undone before the next save. */
  first: FutureTicket | undefined;
  /** Throws if it was undone. */
  check: (ticket: FutureTicket) => Promise<void>;
  counters: ServerProfile["counters"];
}

/** Returns the calls of a model. After a save, they check the first request since the load or the previous save. */
function modelCalls(
  model: TinkerModel,
  call: Requester,
  { first, check, counters }: ModelChecks,
): Omit<ServerModel, "loaded" | "lastNumber" | "unload"> {
  const counts = requestCounts(model.modelId, counters);
  let unsaved = first;
  return {
    id: model.modelId,
    async forward(data) {
      const future = await call((options) =>
        model.submitForward(data.map(datumOf), "cross_entropy", options),
      );
      unsaved ??= future.ticket;
      const { logprobs } = await call((options) => future.result(options));
      return [...logprobs];
    },
    forwardBackward: (data, loss, lossConfig) =>
      call((options) => model.forwardBackward(data.map(datumOf), loss, { ...options, lossConfig })),
    async customBackward(data, gradients) {
      const id = randomUUID();
      await call((options) => model.customForward(data.map(datumOf), id, options));
      const { metrics } = await call((options) => model.customBackward(id, gradients, options));
      counts.pass(metrics);
      return metrics;
    },
    async optimStep({ learningRate, beta1, beta2, epsilon, weightDecay, gradientClip = 0 }) {
      const params = { learningRate, beta1, beta2, eps: epsilon, weightDecay, gradClipNorm: gradientClip };
      const { metrics } = await call((options) => model.optimStep(params, options));
      counts.step(metrics);
      return metrics;
    },
    async save(name) {
      const { path } = await call((options) => model.saveWeights(name, options));
      if (unsaved !== undefined) await check(unsaved);
      unsaved = undefined;
      return path;
    },
  };
}

function datumOf({ inputs, targets, columns }: ServerDatum): Datum {
  return { input: inputs, lossInputs: { target_tokens: targets, ...columns } };
}
