import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** An npm registry on loopback. */
export interface Registry {
  url: string;
  close(): void;
}

/**
 * Serves packed packages as an npm registry does, and what is published to it; it sends who asks for others to the one that npm is
 * configured with.
 */
export async function serveRegistry(tarballs: readonly string[]): Promise<Registry> {
  const others = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const packages = new Map(tarballs.map((file) => readPackage(file)).map((one) => [one.name, one]));
  const server = createServer(async (request, response) => {
    if (request.method === "PUT") {
      const published = packageOf(Object(await json(request)));
      packages.set(published.name, published);
      response.end("{}");
      return;
    }
    const path = decodeURIComponent(new URL(request.url ?? "/", url).pathname.slice(1));
    const [name = "", tarball] = path.split("/-/");
    const found = packages.get(name);
    if (found === undefined)
      response.writeHead(302, { location: new URL(request.url!.slice(1), others).href });
    else if (tarball === undefined) response.setHeader("content-type", "application/json");
    if (found === undefined) response.end();
    else response.end(tarball === undefined ? JSON.stringify(found.described(url)) : found.content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => void server.close() };
}

function readPackage(file: string) {
  const text = execFileSync("tar", ["-xzOf", file, "package/package.json"], { encoding: "utf8" });
  return served(readFileSync(file), JSON.parse(text));
}

/** What `npm publish` sends. */
interface Published {
  versions: Record<string, Description>;
  _attachments: Record<string, { data: string }>;
}

function packageOf({ versions, _attachments }: Published) {
  const [description] = Object.values(versions);
  const [tarball] = Object.values(_attachments);
  if (description === undefined || tarball === undefined) throw new Error("nothing is published");
  return served(Buffer.from(tarball.data, "base64"), description);
}

interface Description {
  name: string;
  version: string;
}

function served(content: Buffer, description: Description) {
  const { name, version } = description;
  const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
  return {
    name,
    content,
    /** What a registry says of a package, at its one version. */
    described: (url: string) => {
      const dist = { tarball: `${url}${name}/-/${version}.tgz`, integrity };
      return { name, "dist-tags": { latest: version }, versions: { [version]: { ...description, dist } } };
    },
  };
}
