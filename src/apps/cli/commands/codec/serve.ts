import { hostname } from "node:os";
import type { Command } from "commander";
import { untilAborted } from "../../../../base/async/abort-signals.ts";
import { codecKeys, keysMalformed } from "../../../../control/encryption/codec-keys.ts";
import { encryptionCodec } from "../../../../control/encryption/encryption-codec.ts";
import { openCodecServer } from "../../../codec/codec-server.ts";
import { accessToken } from "../../terminal/access-token.ts";
import { interruptible } from "../../terminal/interruptible.ts";
import { collect, count } from "../../terminal/option-values.ts";

interface Options {
  host: string;
  port: number;
  token: boolean;
  ui: string[];
}

/** `everturn codec serve`: Temporal's codec server, with the keys of EVERTURN_CODEC_KEYS. */
export function registerCodecServe(parent: Command): void {
  parent
    .command("serve")
    .description("serve the keys of EVERTURN_CODEC_KEYS to Temporal's UI and command line until Ctrl-C")
    .option(
      "--host <address>",
      "address to listen on; anyone who can reach it and has the token can read payloads",
      "127.0.0.1",
    )
    .option("--port <number>", "port to listen on; 0 selects a free port", count, 8081)
    .option("--no-token", "let all users and programs of this machine read payloads")
    .option(
      "--ui <origin>",
      "origin of a Temporal UI that may ask, such as https://temporal.example.com; UIs on this machine always may (repeatable)",
      collect,
      [],
    )
    .action(async ({ host, port, token, ui }: Options) => {
      const secret = accessToken(token, host);
      const keys = codecKeys();
      const [key] = keys;
      if (key === undefined) throw keysMalformed("it is not set");
      const codec = encryptionCodec({ key, keys, who: `The codec server on ${hostname()}` });
      await interruptible(async (signal) => {
        const log = (text: string) => void process.stderr.write(`${text}\n`);
        const server = await openCodecServer(codec, { host, port, token: secret, origins: ui, log });
        const address = secret === undefined ? server.url : `${server.url}/${encodeURIComponent(secret)}`;
        process.stdout.write(`codec endpoint: ${address}\nCtrl-C ends it\n`);
        try {
          await untilAborted(signal);
        } finally {
          await server.close();
        }
      });
    });
}
