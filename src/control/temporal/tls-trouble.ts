import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { defined } from "../../base/records/defined.ts";
import type { connectionSettings } from "./connection-settings.ts";

type TlsSettings = ReturnType<typeof connectionSettings>["tls"];

/** Why TLS with a server fails, and what to do about it. */
export interface TlsTrouble {
  reason: string;
  hint: string;
}

/** How long a handshake may take, and how long after it a server may reject the client's certificate, in ms. */
const patience = 3000;

const authority = "Set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the certificate of the authority that issued it.";
const clientPair =
  "Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to a certificate that the server accepts, and its key.";

/** Names of the errors of OpenSSL and Node for a server's certificate. */
const certificateTroubles: Record<string, TlsTrouble> = {
  CERT_HAS_EXPIRED: {
    reason: "the server's certificate has expired",
    hint: "Its administrator has to renew it.",
  },
  CERT_NOT_YET_VALID: {
    reason: "the server's certificate is not valid yet",
    hint: "Check this machine's clock.",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    reason: "the server's certificate is for another name",
    hint: "Set TEMPORAL_TLS_SERVER_NAME to a name in the certificate.",
  },
};
const untrusted = /SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|CERT_SIGNATURE_FAILURE/;
const withoutTls = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/;

/**
 * Tries TLS with the server at `address` (host:port) as the client does, whose own errors don't name the cause.
 * Returns undefined if the handshake succeeds or nothing answers.
 */
export async function tlsTrouble(address: string, tls: TlsSettings): Promise<TlsTrouble | undefined> {
  if (!tls) {
    const { code } = await handshake(address, { rejectUnauthorized: false });
    if (code !== undefined) return undefined;
    return { reason: "the server requires TLS", hint: "Set TEMPORAL_TLS=true." };
  }
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls === true ? {} : tls;
  const expired = clientCertPair && expiryOf(clientCertPair.crt);
  if (expired !== undefined)
    return { reason: `the client certificate expired on ${expired}`, hint: clientPair };
  const options = defined<ConnectionOptions>({
    servername: serverNameOverride ?? undefined,
    ca: serverRootCACertificate && Buffer.from(serverRootCACertificate),
    cert: clientCertPair && Buffer.from(clientCertPair.crt),
    key: clientCertPair && Buffer.from(clientCertPair.key),
  });
  const { code, isSecured } = await handshake(address, options);
  if (code === undefined || code.startsWith("ECONN") || code === "ETIMEDOUT") {
    // Servers answer a certificate that they don't accept with an alert after the handshake, or just hang up.
    return isSecured && code !== undefined ? rejectedClient(code) : undefined;
  }
  if (untrusted.test(code))
    return { reason: "no trusted authority issued the server's certificate", hint: authority };
  if (withoutTls.test(code))
    return { reason: "the server has no TLS", hint: "Set TEMPORAL_TLS=false, also if an API key is set." };
  if (isSecured || /ALERT/.test(code)) return rejectedClient(code);
  return certificateTroubles[code] ?? { reason: `the handshake failed (${code})`, hint: "" };
}

function rejectedClient(code: string): TlsTrouble {
  const reason = /CERTIFICATE_REQUIRED/.test(code)
    ? "the server requires a client certificate"
    : "the server rejects the client certificate";
  return { reason, hint: clientPair };
}

/** The day on which a certificate expired, if it has. */
function expiryOf(certificate: Uint8Array): string | undefined {
  const { validTo } = new X509Certificate(certificate);
  const end = new Date(validTo);
  return end.getTime() < Date.now() ? end.toISOString().slice(0, 10) : undefined;
}

/** The code of the error that ends a handshake, and whether both sides were secured before. */
function handshake(
  address: string,
  options: ConnectionOptions,
): Promise<{ code?: string; isSecured: boolean }> {
  const { hostname, port } = new URL(`tls://${address}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  const name = options.servername ?? (isIP(host) === 0 ? host : "");
  return new Promise((resolve) => {
    let isSecured = false;
    const socket = connect({
      ALPNProtocols: ["h2"],
      ...options,
      host,
      port: Number(port || 7233),
      servername: name,
    });
    const end = (code?: string) => {
      socket.destroy();
      clearTimeout(timer);
      resolve(defined({ isSecured, code }));
    };
    let timer = setTimeout(() => end("ETIMEDOUT"), patience);
    socket.on("secureConnect", () => {
      isSecured = true;
      clearTimeout(timer);
      timer = setTimeout(end, patience);
    });
    socket.once("data", () => end()); // the server's first HTTP/2 frame: it has accepted the client
    socket.on("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.on("close", () => end("ECONNRESET"));
  });
}
