import { type Operations, routes } from './generated/operations.ts'
import { each } from './pages.ts'
import { type Call, call, type Options, type Route, type Settings } from './request.ts'

/** The client of an installation: a group for each kind of record, such as `client.contacts`. */
export type Rapport = Operations

/** Makes a client. It opens no connection before the first call. */
export function createClient(settings: Settings): Rapport {
  if (!/^https?:\/\//.test(settings.url)) throw new TypeError('url must begin with http:// or https://.')
  if (!settings.key)
    throw new TypeError('key is missing. Make one in the settings, or with `rapport keys create`.')
  const client: Record<string, object> = {}
  for (const [group, operations] of Object.entries(routes))
    client[group] = Object.fromEntries(
      Object.entries(operations).map(([name, route]) => [name, method(settings, route)]),
    )
  return client as unknown as Rapport
}

const method = (settings: Settings, route: Route) =>
  route.each
    ? (...values: unknown[]) => each(settings, route, callOf(route, values))
    : (...values: unknown[]) => call(settings, route, callOf(route, values))

// The arguments of every operation: those of its path, its body, its query, the options.
function callOf({ path, body, query }: Route, values: unknown[]): Call {
  const left = [...values]
  const in_path = left.splice(0, path.match(/\{/g)?.length ?? 0)
  return {
    path: in_path,
    ...(body && { body: left.shift() }),
    ...(query && { query: left.shift() as object | undefined }),
    options: (left.shift() as Options | undefined) ?? {},
  }
}
