import type { DataConverter } from "@temporalio/common";
import { ownModule } from "../../base/processes/own-module.ts";
import { type Encryption, encryptionCodec } from "./encryption-codec.ts";

/** The module that puts failures' messages and stack traces into payloads. */
export const failureConverterPath: string = ownModule("workflows/encoded-failures");

/** The settings with which Temporal's clients and workers encrypt payloads and the messages of failures. */
export function dataConverter(encryption: Encryption | undefined): DataConverter {
  if (encryption === undefined) return {};
  return { payloadCodecs: [encryptionCodec(encryption)], failureConverterPath };
}
