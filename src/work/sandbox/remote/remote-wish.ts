/** A sandbox on a server, as a pipeline requests it. */
export interface RemoteWish {
  kind: string;
  /** The URL of the server. */
  url: string;
  /** The environment variable that holds the token for `Authorization: Bearer`. None is sent if left out. */
  key?: string;
}

/** The headers that authorize a request. Throws if the variable is not set. */
export function headersOf({ key }: RemoteWish): Record<string, string> {
  if (key === undefined) return {};
  const token = process.env[key];
  if (!token) throw new Error(`the environment variable ${key} is not set`);
  return { authorization: `Bearer ${token}` };
}
