import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../../base/errors/message-of.ts";
import { headersOf } from "../../remote/remote-wish.ts";
import type { SandboxLimits } from "../../sandbox.ts";
import type { Containers, ContainerWish } from "../container.ts";
import { languagesIn, probeScript } from "../engine-settings.ts";
import { keepReaping } from "../leases.ts";
import { openContainersOf } from "../open-containers.ts";
import { daytonaApi, kind } from "./api.ts";
import { reap } from "./reap.ts";
import { startSandbox } from "./running.ts";

/** Daytona's own service. */
const hosted = "https://app.daytona.io/api";

/**
 * Opens sandboxes of Daytona (daytona.io), or of a server with its interface. Returns what is missing with a remedy as
 * part of a sentence.
 */
export async function openDaytona(
  { image, url = hosted, key = "DAYTONA_API_KEY", network }: ContainerWish,
  limits: Partial<SandboxLimits> | undefined,
): Promise<Containers | { missing: string }> {
  if (!process.env[key])
    return { missing: `the environment variable ${key} is not set; create a key of Daytona's` };
  if (/\s/.test(image) || image === "") return { missing: `“${image}” is not the name of an image` };
  const api = daytonaApi(url.replace(/\/$/, ""), headersOf({ kind, url, key }));
  const start = startSandbox(api, { image, hasNetwork: network !== undefined });
  try {
    const stopReaping = await keepReaping(`${kind} ${url} ${key}`, () => reap(api));
    const languages = await languagesOf(start, image);
    if ("missing" in languages) {
      stopReaping();
      return languages;
    }
    return await openContainersOf({
      kind,
      languages: languages.languages,
      boundary: `Sandboxes of ${new URL(url).origin}, with the isolation that it provides, and ${network === undefined ? "no network" : "a network"}. Memory is limited in whole GiB, and processes and files are not limited.`,
      limits,
      start,
      close: stopReaping,
    });
  } catch (error) {
    if (!(error instanceof EverturnError)) throw error;
    return { missing: `it does not start (${messageOf(error)})` };
  }
}

async function languagesOf(start: ReturnType<typeof startSandbox>, image: string) {
  const running = await start({ time: 60, memory: 1024, processes: 32, output: 65_536, disk: 64 }, {});
  try {
    const { stdout } = await running.exec(probeScript, { time: 60, output: 65_536, begins: "" });
    return languagesIn(`the image ${image}`, stdout.toString());
  } finally {
    await running.end();
  }
}
