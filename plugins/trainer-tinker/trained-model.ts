import type { SavedState } from "./policy-files.ts";
import type { ServerProfile } from "./profiles.ts";
import type { ModelServer, ServerModel } from "./server-model.ts";

/** The model that a trainer trains. It changes if the server can't save a model twice. */
export interface TrainedModel {
  /** Returns the model to train. */
  current(): Promise<ServerModel>;
  /** Saves the model. Returns the checkpoint's path, and the numbers of the calls since the previous save. */
  save(name: string): Promise<{ path: string } & Pick<SavedState, "model" | "numbers">>;
}

/**
 * Returns the model that a trainer trains, starting with an opened one. On a server that can't save a model twice, each
 * save is followed by a new model, which is loaded from the checkpoint at its first use. An uninterrupted run then
 * continues from the same weights as an interrupted one.
 */
export function trainedModel(profile: ServerProfile, server: ModelServer, start: ServerModel): TrainedModel {
  let model = start;
  let first = model.lastNumber + 1;
  let path: string | undefined;
  const current = async () => {
    if (path === undefined || profile.savesOnce !== true) return model;
    const next = await server.load(path, true);
    await model.unload();
    path = undefined;
    model = next;
    first = model.lastNumber + 1;
    return model;
  };
  return {
    current,
    async save(name) {
      const saving = await current();
      path = await saving.save(name);
      const numbers = { first, last: saving.lastNumber };
      first = saving.lastNumber + 1;
      return { path, model: saving.id, numbers };
    },
  };
}
