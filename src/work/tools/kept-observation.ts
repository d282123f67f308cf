import { defined } from "../../base/records/defined.ts";
import type { Frame, Media } from "../../contracts/generated/trajectory.ts";
import type { ObservationLimit } from "../../contracts/plan.ts";
import type { RecordedCall } from "../../contracts/recorded-call.ts";
import type { CheckedFrame } from "../../plugin/host/checked-media.ts";
import type { CheckedResponse } from "../../plugin/host/checked-response.ts";
import type { Store } from "../../run/store/store.ts";
import { cutText } from "./cut-text.ts";

/** The recorded part of a tool's answer to the model. */
export type KeptObservation = Pick<RecordedCall, "observation" | "media" | "whole">;

/**
 * Stores a tool's answer: images by their content, and the whole text if the model gets only a part. Throws
 * the errors of `Store.bytes`.
 */
export async function keepObservation(
  store: Pick<Store, "bytes">,
  { text, media }: Pick<CheckedResponse, "text" | "media">,
  limit: ObservationLimit,
): Promise<KeptObservation> {
  const observation = cutText(text, limit);
  const kept = await Promise.all(
    (media ?? []).map(
      async ({ frames, ...rest }): Promise<Media> => ({
        ...rest,
        frames: await Promise.all(frames.map((frame) => keepFrame(store, frame))),
      }),
    ),
  );
  return defined({
    observation,
    media: kept.length === 0 ? undefined : kept,
    whole: observation === text ? undefined : await store.bytes(Buffer.from(text)),
  });
}

async function keepFrame(store: Pick<Store, "bytes">, { data, ...rest }: CheckedFrame): Promise<Frame> {
  return { sha256: await store.bytes(data), bytes: data.length, ...rest };
}
