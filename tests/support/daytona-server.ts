import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { ContainerSession, Containers } from "everturn/sandbox";
import type { JsonObject, JsonValue } from "../../src/contracts/json.ts";

/** A sandbox of the server. */
interface Held {
  asked: JsonObject;
  state: string;
  session: ContainerSession | undefined;
}

/**
 * Serves the requests of Daytona's OpenAPI documents that Everturn sends, with containers of this machine in place of
 * Daytona's.
 */
export async function daytonaServer(containers: Containers, token: string) {
  const held = new Map<string, Held>();
  let made = 0;

  function described(id: string): JsonObject {
    const one = held.get(id);
    const toolboxProxyUrl = `${url}/toolbox`;
    return { id, state: one?.state ?? "destroyed", labels: one?.asked.labels ?? {}, toolboxProxyUrl };
  }

  async function answer(request: IncomingMessage): Promise<JsonValue | undefined> {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const body = await buffer(request);
    const [, room, group, id = "", ...rest] = pathname.split("/");
    const one = held.get(room === "toolbox" ? (group ?? "") : id);
    const route = `${request.method} ${room}`;
    if (route === "POST api") {
      const asked: JsonObject = JSON.parse(body.toString());
      const name = `sandbox-${++made}`;
      const opening: Held = { asked, state: "pending_build", session: undefined };
      held.set(name, opening);
      void containers.open().then((session) => {
        opening.session = session;
        opening.state = "started";
      });
      return described(name);
    }
    if (route === "GET api" && id === "") {
      const wanted = Object.entries<JsonValue>(JSON.parse(searchParams.get("labels") ?? "{}"));
      const items = [...held.keys()].map(described).filter(({ labels }) => {
        const has: JsonObject = Object(labels);
        return wanted.every(([name, value]) => has[name] === value);
      });
      return { items, nextCursor: null };
    }
    if (one === undefined) return undefined;
    if (route === "GET api") return described(id);
    if (route === "DELETE api") {
      held.delete(id);
      await one.session?.close();
      return { id, state: "destroying" };
    }
    const path = [id, ...rest].join("/");
    if (path === "files/bulk-upload") {
      const headers = { "content-type": request.headers["content-type"] ?? "" };
      const form = await new Response(new Uint8Array(body), { headers }).formData();
      for (let index = 0; form.has(`files[${index}].path`); index++) {
        const file = form.get(`files[${index}].file`);
        if (!(file instanceof File)) return undefined;
        const content = new Uint8Array(await file.arrayBuffer());
        await one.session?.put({ [String(form.get(`files[${index}].path`))]: content });
      }
      return {};
    }
    if (path !== "process/execute") return undefined;
    const { command, envs, timeout }: { command: string; envs: Record<string, string>; timeout: number } =
      JSON.parse(body.toString());
    const ran = await one.session?.exec({
      command,
      environment: envs,
      limits: { time: timeout, output: 2 ** 26 },
    });
    return { exitCode: ran?.exitCode ?? -1, result: `${ran?.stdout}${ran?.stderr}` };
  }

  const server = createServer(async (request, response) => {
    const isAllowed = request.headers.authorization === `Bearer ${token}`;
    const value = isAllowed ? await answer(request) : undefined;
    response.writeHead(isAllowed ? (value === undefined ? 404 : 200) : 401, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify(value ?? { message: "not found or not allowed" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url: `${url}/api`, held, close: () => server.close() };
}
