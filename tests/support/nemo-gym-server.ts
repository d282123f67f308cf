import type { JsonObject } from "../../src/contracts/json.ts";
import { type Asked, jsonServer } from "./json-server.ts";

/** What a server of the tests does otherwise than a healthy one. */
export interface NemoGymFaults {
  /** Added to each total from now on. */
  drift?: number;
  /** What /verify says of each trajectory, in addition to its reward. */
  verdict?: JsonObject;
}

/**
 * A resources server that speaks NeMo Gym 0.7, as the recorded exchanges show it, until the test is over. Its sessions add
 * amounts to reach the row's target, and its cookies are all that distinguishes them.
 */
export async function nemoGymServer() {
  const faults: NemoGymFaults = {};
  const totals = new Map<string, number>();
  const closed: string[] = [];
  let newest = 0;
  const { url, asked } = await jsonServer(answer);

  function answer({ path, headers, body }: Asked) {
    const [, known] = /Counter___counter=([^.;]+)/.exec(headers.cookie ?? "") ?? [];
    const id = known === undefined ? `s-${++newest}` : idOf(known);
    const cookie = Buffer.from(JSON.stringify({ session_id: id })).toString("base64");
    const set = { "set-cookie": `Counter___counter=${cookie}.signature; path=/; httponly` };
    const said = (value: unknown, status = 200) => ({ status, value, headers: set });
    if (path === "/seed_session") {
      totals.set(id, Number(body.start));
      return said({});
    }
    if (path === "/add") {
      if (!Number.isInteger(body.amount)) return said({ detail: [{ msg: "not a valid integer" }] }, 422);
      totals.set(id, (totals.get(id) ?? 0) + body.amount);
      return said({ total: (totals.get(id) ?? 0) + (faults.drift ?? 0) });
    }
    if (path === "/verify") {
      const reward = totals.get(id) === body.target ? 1 : 0;
      return said({ ...body, reward, mask_sample: false, failure_kind: null, ...faults.verdict });
    }
    if (path === "/close_session") {
      closed.push(body.resources_session_id);
      totals.delete(id);
      return said({ resources_session_id: body.resources_session_id });
    }
    return said({ detail: "Not Found" }, 404);
  }

  return {
    url,
    asked,
    faults,
    closed,
    /** Forgets all sessions, as a restart does. */
    restart: () => totals.clear(),
    sessions: () => totals.size,
  };
}

function idOf(cookie: string): string {
  return JSON.parse(Buffer.from(cookie, "base64").toString()).session_id;
}
