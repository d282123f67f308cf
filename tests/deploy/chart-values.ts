/** The least that a release of the chart needs. */
export const needed = [
  "run.id=calculator",
  "store.address=s3://bucket/runs",
  "temporal.address=temporal:7233",
];

/** A pool of workers, which scale. */
export const pool = [
  "pool.name=gpu",
  ...needed.slice(1),
  "roles.policy.atOnce=16",
  "roles.policy.scaling.enabled=true",
];

/** A run whose pool generates and trains. */
export const pooledRun = [
  ...needed,
  "run.pipeline=pipelines/calculator.yaml",
  "run.pool=gpu",
  "run.priority=1",
];

/** Every part of the chart. */
export const everything = [
  ...needed,
  "run.pipeline=pipelines/calculator.yaml",
  "run.set={steps=3,seed=2}",
  "store.endpoint=http://s3:8333",
  "store.secret=s3",
  "temporal.apiKeySecret=api-key",
  "temporal.tlsSecret=tls",
  "temporal.serverName=temporal.example.org",
  "codec.secret=codec",
  "telemetry.endpoint=http://collector:4318",
  "roles.policy.scaling.enabled=true",
  "roles.tools.scaling.enabled=true",
  "roles.tools.priorityClassName=low",
  "serviceAccount.annotations.role=arn",
];
