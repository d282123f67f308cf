/** A tracking server's REST API, version 2.0. */
export interface Mlflow {
  /** Throws Error with the server's message. */
  post(path: string, body: object, signal: AbortSignal): Promise<Record<string, unknown>>;
  find(path: string, signal: AbortSignal): Promise<Record<string, unknown> | undefined>;
  /** Stores a JSON artifact at the server, at a path below its artifacts' root. */
  put(path: string, value: object, signal: AbortSignal): Promise<void>;
}

export function mlflowAt(url: string, token: string | undefined): Mlflow {
  const api = `${url.replace(/\/+$/, "")}/api/2.0/`;
  const base = `${api}mlflow/`;
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  async function ask(
    path: string,
    init: RequestInit,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(base + path, { ...init, headers });
    const text = await response.text();
    const body = parsed(text);
    if (response.ok || body.error_code === "RESOURCE_DOES_NOT_EXIST")
      return { status: response.status, body };
    throw refused(base + path, response, text);
  }
  return {
    async post(path, body, signal) {
      const answer = await ask(path, { method: "POST", body: JSON.stringify(body), signal });
      if (answer.status < 300) return answer.body;
      throw new Error(`${base}${path} answered ${answer.status}: ${answer.body.message}`);
    },
    async find(path, signal) {
      const answer = await ask(path, { signal });
      return answer.status < 300 ? answer.body : undefined;
    },
    async put(path, value, signal) {
      const place = `${api}mlflow-artifacts/artifacts/${path.split("/").map(encodeURIComponent).join("/")}`;
      const response = await fetch(place, { method: "PUT", headers, body: JSON.stringify(value), signal });
      if (!response.ok) throw refused(place, response, await response.text());
    },
  };
}

function refused(address: string, { status }: Response, text: string): Error {
  const { message } = parsed(text);
  const said = typeof message === "string" ? message : text.slice(0, 200);
  return new Error(`${address.split("?")[0]} answered ${status}: ${said}`);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // a proxy's page, which the error above shows
  }
}
