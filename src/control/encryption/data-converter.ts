import type { DataConverter, PayloadCodec, SerializationContext } from "@temporalio/common";
import { sharedPromises } from "../../base/async/shared-promises.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import { type Encryption, encryptionCodec } from "./encryption-codec.ts";

/** The module that puts failures' messages and stack traces into payloads. */
export const failureConverterPath: string = ownModule("workflows/encoded-failures");

/**
 * The settings with which a pool's worker encrypts the payloads of each run with the run's key. Those of runs without
 * one stay readable. `encryptionOf` finds how a run is encrypted; `hasKeys`: the worker has keys, so that runs may be.
 */
export function poolDataConverter(
  encryptionOf: (run: string) => Promise<Encryption | undefined>,
  hasKeys: boolean,
): DataConverter {
  const codecs = sharedPromises<PayloadCodec | undefined>();
  const codecOf = (context: SerializationContext | undefined) => {
    const [run = ""] = (context?.workflowId ?? "").split("/"); // workflows have the id of their run, or begin with it
    return codecs.get(run, async () => {
      const encryption = await encryptionOf(run);
      return encryption && encryptionCodec(encryption);
    });
  };
  const codec: PayloadCodec = {
    encode: async (payloads, context) => (await codecOf(context))?.encode(payloads) ?? payloads,
    decode: async (payloads, context) => (await codecOf(context))?.decode(payloads) ?? payloads,
  };
  const payloadCodecs = [codec];
  return hasKeys ? { payloadCodecs, failureConverterPath } : { payloadCodecs };
}

/** The settings with which Temporal's clients and workers encrypt payloads and the messages of failures. */
export function dataConverter(encryption: Encryption | undefined): DataConverter {
  if (encryption === undefined) return {};
  return { payloadCodecs: [encryptionCodec(encryption)], failureConverterPath };
}
