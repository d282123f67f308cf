import { createServer } from "node:http";
import { resolve } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { checkOrigin } from "../endpoint/check-origin.ts";
import { HttpProblem } from "../endpoint/http-problem.ts";
import { listen } from "../endpoint/listen.ts";
import { openJobs } from "./jobs.ts";
import { openTables } from "./open-tables.ts";
import { routes } from "./routes.ts";

/** Only this machine reaches the pages. */
const host = "127.0.0.1";

/** The pages of a folder of runs, served. */
export interface RunningUi {
  url: string;
  /** Ends the server, and the commands that pages have started. */
  close(): Promise<void>;
}

/** Serves the pages of the folder `runs`. Port 0: any that is free. Throws PORT_UNUSABLE. */
export async function startUi(runs: string, port: number): Promise<RunningUi> {
  const context = { runs: resolve(runs), tables: openTables(), jobs: openJobs() };
  const answer = getRequestListener(routes(context).fetch);
  const server = createServer((request, response) => {
    try {
      checkOrigin(request, host);
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      response.writeHead(error.status, { "content-type": "text/plain" }).end(error.message);
      return;
    }
    void answer(request, response);
  });
  const url = await listen(server, host, port);
  return {
    url,
    close: async () => {
      context.jobs.close();
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
      await context.tables.close();
    },
  };
}
