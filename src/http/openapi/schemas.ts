type Json = Record<string, unknown>

/** A JSON schema of the document. */
export type Schema = Json & { type?: string | string[]; properties?: Record<string, Schema> }
export type ObjectSchema = Json & { properties: Record<string, Schema> }

/** Whether a schema is that of an object with named properties. */
export const isObjectSchema = (schema: unknown): schema is ObjectSchema =>
  typeof schema === 'object' && schema !== null && 'properties' in schema
