import { type JsonObject, serverAddress } from "everturn/plugin";

/** The address of the environment server, which Everturn starts if the configuration has `start`. */
export async function addressOf({ address, start }: JsonObject, signal?: AbortSignal): Promise<string> {
  return (await serverAddress({ url: address, start }, { signal })).replace(/^http/, "tcp");
}
