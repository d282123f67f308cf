import type { SavedState } from "./policy-files.ts";
import type { ServerProfile } from "./profiles.ts";
import type { ModelServer, ServerModel } from "./server-model.ts";

/** The model that a trainer trains. It changes if the server can't save a model twice. */
export interface TrainedModel {
  /** Returns the model to train. */
  current(): Promise<ServerModel>;
  /** Saves the model. */
  save(name: string): Promise<SavedModel>;
}

/** A checkpoint, and how its model was made. */
export interface SavedModel extends Pick<SavedState, "model" | "numbers"> {
  path: string;
  /** The checkpoint from which the model was loaded. Undefined if it began with the server's base weights. */
  loaded: string | undefined;
}

/**
 * Returns the model that a trainer trains, starting with an opened one. On a server that can't save a model twice, each
 * save is followed by a new model, which is loaded from the checkpoint at its first use. An uninterrupted run then
 * continues from the same weights as an interrupted one.
 */
export function trainedModel(profile: ServerProfile, server: ModelServer, start: ServerModel): TrainedModel {
  let model = start;
  let first = 1;
  let path: string | undefined;
  const current = async () => {
    if (path === undefined || profile.savesOnce !== true) return model;
    const next = await server.load(path, true);
    await model.unload();
    path = undefined;
    model = next;
    first = 1;
    return model;
  };
  return {
    current,
    async save(name) {
      const saving = await current();
      path = await saving.save(name);
      const numbers = { first, last: saving.lastNumber };
      first = saving.lastNumber + 1;
      return { path, loaded: saving.loaded, model: saving.id, numbers };
    },
  };
}
