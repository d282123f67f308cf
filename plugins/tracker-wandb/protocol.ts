/** The mutation with which W&B's own client starts and continues a run. */
export const upsertRun = `mutation UpsertBucket($name: String, $project: String, $entity: String, $displayName: String, $config: JSONString, $tags: [String!]) {
  upsertBucket(input: { name: $name, modelName: $project, entityName: $entity, displayName: $displayName, config: $config, tags: $tags }) {
    bucket { id name project { name entity { name } } historyLineCount }
    inserted
  }
}`;

/** The mutation with which W&B's own client asks where to send a run's files. */
export const createRunFiles = `mutation CreateRunFiles($entity: String!, $project: String!, $run: String!, $files: [String!]!) {
  createRunFiles(input: { entityName: $entity, projectName: $project, runName: $run, files: $files }) {
    runID uploadHeaders files { name uploadUrl }
  }
}`;

/** A W&B server's answer about a run. */
export interface Bucket {
  name: string;
  project: { name: string; entity: { name: string } };
}

/** A server with W&B's protocol: GraphQL for the run, a stream of lines for its measurements. */
export function wandbAt(url: string, key: string) {
  const base = url.replace(/\/+$/, "");
  const authorization = `Basic ${Buffer.from(`api:${key}`).toString("base64")}`;

  async function post(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const headers = { authorization, "content-type": "application/json" };
    const response = await fetch(base + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${base}${path} answered ${response.status}: ${text.slice(0, 200)}`);
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${base}${path} answered no JSON: ${text.slice(0, 200)}`);
    }
  }

  function refused(what: string, answer: { errors?: unknown }): Error {
    const [error] = Array.isArray(answer.errors) ? answer.errors : [];
    return new Error(`${base}/graphql ${what}: ${error?.message ?? JSON.stringify(answer).slice(0, 200)}`);
  }

  return {
    async upsert(variables: object, signal: AbortSignal): Promise<Bucket> {
      const query = { query: upsertRun, variables, operationName: "UpsertBucket" };
      const answer = Object(await post("/graphql", query, signal));
      const bucket = answer.data?.upsertBucket?.bucket;
      if (bucket !== undefined && bucket !== null) return bucket;
      throw refused("made no run", answer);
    },
    /** Stores a file with a run, in place of an earlier one of its name. */
    async upload(
      { name: run, project }: Bucket,
      name: string,
      content: string,
      signal: AbortSignal,
    ): Promise<void> {
      const variables = { entity: project.entity.name, project: project.name, run, files: [name] };
      const query = { query: createRunFiles, variables, operationName: "CreateRunFiles" };
      const answer = Object(await post("/graphql", query, signal));
      const { uploadHeaders = [], files = [] } = Object(answer.data?.createRunFiles);
      const target = files[0]?.uploadUrl;
      if (typeof target !== "string")
        throw refused(`takes no file for a table, which \`tables: false\` leaves out`, answer);
      const headers = uploadHeaders.map((header: string) => header.split(/:(.*)/s, 2));
      const place = new URL(target, `${base}/`); // it is relative on servers that store files themselves
      const response = await fetch(place, { method: "PUT", headers, body: content, signal });
      if (!response.ok) throw new Error(`${place.origin} answered ${response.status} to the file ${name}`);
    },
    /** Sends lines of the run's history and summary, and whether the run has ended. */
    async stream({ name, project }: Bucket, body: object, signal: AbortSignal): Promise<void> {
      const place = [project.entity.name, project.name, name].map(encodeURIComponent).join("/");
      await post(`/files/${place}/file_stream`, body, signal);
    },
  };
}
