import { type Call, call, type Route, type Settings } from './request.ts'

type Page = {
  data: unknown[]
  meta: { next_cursor?: string | null; has_more?: boolean; last_page?: number }
}

/** All records of a list, from `cursor` on. Each page is read when the records of the page before are used up. */
export async function* each(settings: Settings, route: Route, asked: Call): AsyncGenerator<unknown> {
  const { cursor = 'start', ...filters } = (asked.query ?? {}) as { cursor?: string }
  const numbered = route.each === 'page'
  let place: object = numbered ? { page: 1 } : { cursor }
  for (let number = 1; ; number++) {
    const query = { ...(route.per_page && { per_page: 100 }), ...filters, ...place }
    const { data, meta } = (await call(settings, route, { ...asked, query })) as Page
    yield* data
    const { next_cursor = null, has_more = true, last_page = 1 } = meta
    if (numbered ? number >= last_page : next_cursor === null || !has_more) return
    place = numbered ? { page: number + 1 } : { cursor: next_cursor }
  }
}
