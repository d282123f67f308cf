import { once } from "node:events";
import { createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** A way to a server on which a trainer's optimizer steps become proportional to the gradient. */
export interface ProportionalSteps {
  url: string;
  /** What the gradient is multiplied by in the steps that follow. */
  factor: number;
  close(): Promise<void>;
}

/** Far above any gradient, so that Adam's step is learning rate / epsilon times the gradient. */
const epsilon = 1e9;

/** The epsilon of `trainer-tinker`'s own steps. Its probe has others. */
const usualEpsilon = 1e-8;

/**
 * Forwards all requests to a server. Usual Adam steps hide the scale of a gradient, so it replaces the numbers of those of
 * `trainer-tinker`, and nothing else.
 */
export async function startProportionalSteps(target: string): Promise<ProportionalSteps> {
  const server = createServer(async (incoming, outgoing) => {
    const received = await buffer(incoming);
    const body = incoming.url?.endsWith("/optim_step") ? proportional(received, steps.factor) : received;
    const { "content-length": _, "transfer-encoding": __, ...headers } = incoming.headers;
    const forwarded = request(target + incoming.url, {
      method: incoming.method,
      headers: { ...headers, "content-length": body.length },
    });
    forwarded.on("error", () => incoming.socket.destroy());
    forwarded.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no port");
  const steps: ProportionalSteps = {
    url: `http://127.0.0.1:${address.port}`,
    factor: 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return steps;
}

function proportional(body: Buffer, factor: number): Buffer {
  const step = JSON.parse(body.toString());
  if (step.adam_params.eps !== usualEpsilon) return body;
  const numbers = { learning_rate: factor * epsilon, beta1: 0, beta2: 0, eps: epsilon };
  return Buffer.from(JSON.stringify({ ...step, adam_params: { ...step.adam_params, ...numbers } }));
}
