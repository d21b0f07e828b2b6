// biome-ignore-all lint/suspicious/noExplicitAny: a document is JSON of any shape

// The TypeScript types of the JSON schemas of docs/openapi.json. It knows only what that document has, and throws at
// anything else.

export type Node = Record<string, any>

/** A schema as a type. `refer` makes the type of a reference, such as #/components/schemas/Contact. */
export function createTypes(refer: (reference: string) => string) {
  function typeOf(schema: Node): string {
    if (schema.$ref) return refer(schema.$ref)
    if ('const' in schema) return JSON.stringify(schema.const)
    if (schema.enum) return schema.enum.map((value: unknown) => JSON.stringify(value)).join(' | ')
    if (schema.allOf) throw new Error('allOf has no type here yet.')
    const union = schema.oneOf ?? schema.anyOf
    if (union) return `(${union.map(typeOf).join(' | ')})`
    if (schema.type === undefined) return 'unknown'
    return [schema.type]
      .flat()
      .map((type: string) => typeOfKind(type, schema))
      .join(' | ')
  }

  function typeOfKind(type: string, schema: Node): string {
    if (type === 'integer') return 'number'
    // The pattern of a beginning, such as ^custom_fields\\.
    const [, beginning] = /^\^((?:\w|\\\.)+)$/.exec(schema.pattern ?? '') ?? []
    if (type === 'string' && beginning) return `\`${beginning.replaceAll('\\', '')}\${string}\``
    if (type === 'array') return `(${typeOf(schema.items ?? {})})[]`
    if (type === 'object') return recordType(schema)
    if (['string', 'number', 'boolean', 'null'].includes(type)) return type
    throw new Error(`The type ${type} is not known.`)
  }

  function recordType({ properties = {}, required = [], additionalProperties: others }: Node): string {
    const known = Object.entries<Node>(properties).map(([name, schema]) => {
      const is_required = required.includes(name) || 'default' in schema
      return [is_required ? name : `${name}?`, typeOf(schema)] as const
    })
    const more = others ? `{ [key: string]: ${others === true ? 'unknown' : typeOf(others)} }` : ''
    if (known.length === 0) return more || 'Record<string, never>'
    return more ? `(${objectType(known)} & ${more})` : objectType(known)
  }

  return typeOf
}

/** An object type, a property a line. A key that ends with a question mark is optional. */
export function objectType(entries: (readonly [string, string])[]): string {
  const lines = entries.map(([key, type]) =>
    key.endsWith('?') ? `${JSON.stringify(key.slice(0, -1))}?: ${type}` : `${JSON.stringify(key)}: ${type}`,
  )
  return `{\n${lines.join('\n')}\n}`
}
