/** The schemas of an object's properties by name; empty if `schema` is not an object's. */
export function propertiesOf(schema: unknown): Record<string, unknown> {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return {};
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? { ...properties } : {};
}
