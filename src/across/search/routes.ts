import { type Static, Type } from 'typebox'
import { forbidden, invalid } from '../../errors.ts'
import { Exact, Id, MaybeText, TextOrNull, Titled } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { mainOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { findBest, max_of_kind } from './best.ts'

const Query = (kinds: readonly string[]) =>
  Exact({
    q: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The words. Case and accents are ignored.',
      examples: ['Ruiz'],
    }),
    kinds: MaybeText({
      maxLength: 200,
      description: `Some of ${kinds.join(', ')}, with commas between them. By default all that the caller may read.`,
    }),
  })

/** GET of the best matches of all kinds. */
export function searchRoutes(app: App, { reading, resources, rights }: Service): void {
  const searched = mainOf(resources)
  const names = searched.map(({ table }) => table)
  const [scope = '', ...or_scopes] = searched.map((resource) => `${resource.scope}:read`)
  const Found = Titled('Found', {
    kind: Type.Unsafe<string>({ type: 'string', enum: names }),
    id: Id({ examples: [42] }),
    title: Type.String({ examples: ['Ana Ruiz'] }),
    subtitle: TextOrNull({
      description: `${searched.map(({ table, subtitle }) => `${table}: \`${subtitle}\``).join(', ')}. Of a record that its telephone number found: this number.`,
      examples: ['ana.ruiz@acme.example'],
    }),
  })
  const answer = Type.Object({ success: Type.Literal(true), data: Type.Array(Found) })
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/search',
      scope,
      or_scopes,
      id: 'searchRecords',
      summary: 'Search all kinds of records',
      description: `At most ${max_of_kind} records of each kind, best matches first: a whole name, the beginning of a name, the beginning of a word, then others. Each word must occur in the name; in a contact's e-mail, too. At least 4 digits also find a telephone number, or a part of it. If nothing is found, one word of at least 5 characters may have one wrong letter, in a text of at most 8 words.`,
      query: Query(names),
      answers: { 200: answer },
    },
    async ({ access: { workspace_id, scopes }, query }) => {
      const asked = wantedOf(query, searched)
      const hidden = asked.filter(({ table }) => !rights.mayRead(scopes, table))
      if (query.kinds !== undefined && hidden[0])
        throw forbidden(`Searching ${hidden[0].table} needs ${hidden[0].scope}:read.`)
      const readable = asked.filter((resource) => !hidden.includes(resource))
      const data = await reading((db) => findBest(db, readable, workspace_id, query.q))
      return { success: true as const, data }
    },
  )
}

function wantedOf({ kinds }: Static<ReturnType<typeof Query>>, searched: readonly Resource[]): Resource[] {
  if (kinds === undefined) return [...searched]
  const names = kinds.split(',').map((name) => name.trim())
  const known = searched.map(({ table }) => table as string)
  if (names.some((name) => !known.includes(name)))
    throw invalid([
      { field: 'kinds', code: 'unknown_value', message: `kinds must be some of ${known.join(', ')}.` },
    ])
  return searched.filter(({ table }) => names.includes(table))
}
