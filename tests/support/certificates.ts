import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** The paths of a certificate and its key, as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** A certificate authority of a test. */
export interface Authority extends Certificate {
  /** Issues a certificate for a DNS name, valid for `days` days; with -1 it has expired. */
  issue(name: string, days?: number): Certificate;
}

/** Creates a certificate authority in `folder` with the `openssl` command. */
export function createAuthority(folder: string, name: string): Authority {
  const openssl = (...parameters: string[]) => execFileSync("openssl", parameters, { stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const path = (file: string) => join(folder, `${name}-${file}`);
  const own: Certificate = { cert: path("ca.pem"), key: path("ca.key") };
  openssl(
    "req",
    "-x509",
    ...newKey,
    "-subj",
    `/CN=${name}`,
    "-days",
    "2",
    "-keyout",
    own.key,
    "-out",
    own.cert,
  );
  let issued = 0;
  return {
    ...own,
    issue: (dnsName, days = 1) => {
      const number = ++issued;
      const [request, key, cert, names] = ["csr", "key", "pem", "txt"].map((end) => path(`${number}.${end}`));
      if (!request || !key || !cert || !names) throw new Error("four paths");
      writeFileSync(names, `subjectAltName=DNS:${dnsName}`);
      openssl("req", "-new", ...newKey, "-subj", `/CN=${dnsName}`, "-keyout", key, "-out", request);
      const signer = ["-CA", own.cert, "-CAkey", own.key, "-CAcreateserial", "-extfile", names];
      openssl("x509", "-req", "-in", request, ...signer, "-days", String(days), "-out", cert);
      return { cert, key };
    },
  };
}
