import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DevServer, startDevServer } from "../../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { type Authority, createAuthority } from "../support/certificates.ts";
import { lastLine, startWith } from "../support/command.ts";
import { type Gateway, requireKey, startGateway } from "../support/temporal-gateway.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A gateway before a real server requires TLS, client certificates or an API key, as hosted servers do. */

const folder = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const name = "temporal.example";
const apiKey = "key-of-a-test";

let server: DevServer;
let authority: Authority;
let stranger: Authority;
let gateways: Record<"open" | "tls" | "mutual" | "expired" | "keyed" | "all", Gateway>;

beforeAll(async () => {
  const paths = { database: join(folder, "server.db"), log: join(folder, "server.log") };
  server = await startDevServer({ binary: await findServerBinary(), ...paths });
  authority = createAuthority(folder, "known");
  stranger = createAuthority(folder, "stranger");
  const [certificate, clients, rule] = [authority.issue(name), authority.cert, requireKey(apiKey)];
  gateways = {
    open: await startGateway(server.address),
    tls: await startGateway(server.address, { certificate }),
    mutual: await startGateway(server.address, { certificate, clients }),
    expired: await startGateway(server.address, { certificate: authority.issue(name, -1) }),
    keyed: await startGateway(server.address, { certificate, rule }),
    all: await startGateway(server.address, { certificate, clients, rule }),
  };
});

afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop();
  await server.stop();
});

const trusting = () => ({
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert,
  TEMPORAL_TLS_SERVER_NAME: name,
});

/** Settings with a client certificate of `issuer`, valid for `days`. */
function withCertificate(issuer: Authority, days = 1): Record<string, string> {
  const { cert, key } = issuer.issue("client", days);
  return { ...trusting(), TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key };
}

test("a run with workers works through TLS with client certificates and an API key", async () => {
  const settings = ["steps=1", "evaluation.tasks=2", "rollout.batchSize=8", "warmStart.steps=1"];
  const { code, stdout, stderr } = await startWith(
    { ...withCertificate(authority), TEMPORAL_API_KEY: apiKey, TEMPORAL_ADDRESS: gateways.all.address },
    "run",
    pipeline,
    "--runs",
    join(folder, "runs"),
    "--json",
    ...settings.flatMap((setting) => ["--set", setting]),
  ).end();
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ steps: 1, trajectories: 8 });
});

type Case = [
  title: string,
  gateway: () => Gateway,
  environment: () => Record<string, string>,
  message: string | RegExp,
];

const cases: Case[] = [
  ["a client without TLS", () => gateways.tls, () => ({}), "the server requires TLS. Set TEMPORAL_TLS=true."],
  [
    "TLS where the server has none",
    () => gateways.open,
    () => ({ TEMPORAL_TLS: "true" }),
    "the server has no TLS. Set TEMPORAL_TLS=false",
  ],
  [
    "an authority that nobody named",
    () => gateways.tls,
    () => ({ TEMPORAL_TLS: "true" }),
    "no trusted authority issued the server's certificate. Set TEMPORAL_TLS_SERVER_CA_CERT_PATH",
  ],
  [
    "another authority",
    () => gateways.tls,
    () => ({ ...trusting(), TEMPORAL_TLS_SERVER_CA_CERT_PATH: stranger.cert }),
    "no trusted authority issued the server's certificate.",
  ],
  [
    "another name",
    () => gateways.tls,
    () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert }),
    "the server's certificate is for another name. Set TEMPORAL_TLS_SERVER_NAME",
  ],
  [
    "an expired server certificate",
    () => gateways.expired,
    trusting,
    "the server's certificate has expired.",
  ],
  [
    "no client certificate",
    () => gateways.mutual,
    trusting,
    "the server requires a client certificate. Set TEMPORAL_TLS_CLIENT_CERT_PATH",
  ],
  [
    "a client certificate of a stranger",
    () => gateways.mutual,
    () => withCertificate(stranger),
    "the server rejects the client certificate. Set TEMPORAL_TLS_CLIENT_CERT_PATH",
  ],
  [
    "an expired client certificate",
    () => gateways.mutual,
    () => withCertificate(authority, -1),
    /the client certificate expired on \d{4}-\d\d-\d\d\./,
  ],
  [
    "a client certificate without its key",
    () => gateways.mutual,
    () => ({ ...trusting(), TEMPORAL_TLS_CLIENT_CERT_PATH: authority.cert }),
    "TEMPORAL_SETTINGS_INVALID: Temporal's environment settings can't be used: a client certificate is set without its key.",
  ],
  [
    "a wrong API key",
    () => gateways.keyed,
    () => ({ ...trusting(), TEMPORAL_API_KEY: "wrong" }),
    "TEMPORAL_UNAUTHORIZED: The Temporal server at ADDRESS does not accept these credentials for the namespace default: Request unauthorized.",
  ],
  ["no API key", () => gateways.keyed, trusting, "TEMPORAL_UNAUTHORIZED: "],
  [
    "a namespace that does not exist",
    () => gateways.tls,
    () => ({ ...trusting(), TEMPORAL_NAMESPACE: "missing" }),
    "TEMPORAL_REFUSED: The Temporal server at ADDRESS rejects the namespace missing: Namespace missing is not found.",
  ],
];

describe.concurrent("a command names what the server rejects", () => {
  test.each(cases)("%s", async (title, gateway, environment, message) => {
    const { address } = gateway();
    const runs = join(folder, title.replaceAll(" ", "-"));
    const { code, stderr } = await startWith(
      environment(),
      "run",
      pipeline,
      "--runs",
      runs,
      "--address",
      address,
    ).end();
    expect(code).not.toBe(0);
    const said = stderr.replaceAll(address, "ADDRESS");
    if (typeof message === "string") expect(said).toContain(message);
    else expect(said).toMatch(message);
  });
});
