import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { checkToken } from "../../chat/openai/access-token.ts";
import { checkOrigin } from "../../chat/openai/check-origin.ts";
import { HttpProblem } from "../../chat/openai/http-problem.ts";
import { targetOf } from "../../chat/openai/request-target.ts";
import { serveApp } from "../../chat/openai/serve-app.ts";
import { openJobs } from "./jobs.ts";
import { openIndexes } from "./open-indexes.ts";
import { openSearches } from "./open-searches.ts";
import { openTables } from "./open-tables.ts";
import { routes } from "./routes.ts";

/** Only this machine reaches the pages. */
const host = "127.0.0.1";

/** The served pages of a folder of runs. */
export interface RunningUi {
  url: string;
  /** Ends the server, and the commands that pages have started. */
  close(): Promise<void>;
}

/**
 * Serves the pages of the folder `runs` to everyone with the token: in an address, which a browser keeps as a
 * cookie, or as a bearer token. Without a token, to everyone who reaches this machine's loopback address. Port 0
 * means any free one. Throws PORT_UNUSABLE.
 */
export async function startUi(runs: string, port: number, token: string | undefined): Promise<RunningUi> {
  const context = {
    runs: resolve(runs),
    tables: openTables(),
    indexes: openIndexes(),
    searches: openSearches(),
    jobs: openJobs(),
  };
  const { url, server } = await serveApp(routes(context), {
    host,
    port,
    admit: (request, response) => {
      try {
        return admit(request, response, token);
      } catch (error) {
        if (!(error instanceof HttpProblem)) throw error;
        response.writeHead(error.status, { "content-type": "text/plain" }).end(error.message);
        return false;
      }
    },
  });
  return {
    url,
    close: async () => {
      context.jobs.close();
      context.searches.close();
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
      await context.tables.close();
    },
  };
}

/**
 * Whether a request may be answered. If a page's address contains the token, this sets a cookie and redirects.
 * Throws HttpProblem.
 */
function admit(request: IncomingMessage, response: ServerResponse, token: string | undefined): boolean {
  checkOrigin(request, host);
  const target = targetOf(request);
  if (!["GET", "HEAD"].includes(request.method ?? "") && !isForm(request))
    throw new HttpProblem(415, "this is not sent by a form of the pages");
  if (token === undefined) return true;
  const name = `everturn-${request.socket.localPort}`; // all ports share cookies
  checkToken(request, token, cookieOf(request, name));
  if (!target.searchParams.has("token")) return true;
  response.setHeader("set-cookie", `${name}=${token}; Path=/; HttpOnly; SameSite=Strict`);
  if (request.headers["sec-fetch-dest"] !== "document") return true;
  target.searchParams.delete("token"); // an address is visible, stored and shared
  const path = target.pathname.replace(/^\/+/, "/"); // a path that begins with // would name another host
  response.writeHead(303, { location: `${path}${target.search}` }).end();
  return false;
}

/** Whether a request has a browser's form type. Orders in forms are only accepted from the pages' own origin. */
function isForm({ headers }: IncomingMessage): boolean {
  return /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i.test(
    headers["content-type"] ?? "",
  );
}

function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  const cookies = headers.cookie?.split(/;\s*/) ?? [];
  return cookies.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}
