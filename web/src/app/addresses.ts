import type { MergedKind, QueryOf, RecordKind, Segment } from '../api/record-types.ts'

// The addresses of the app as types: an unknown path or search parameter is a compile error. The router could derive types from its
// table of pages. But that table depends on all pages, which need the types, and its types have no address as one text, such as
// /contacts/12.

/** The path of the list of a kind. */
export type KindPath<K extends RecordKind = RecordKind> = K extends 'appointments'
  ? '/calendar'
  : `/${Segment<K>}`

type OwnParameters = { deals: 'view'; activities: 'show'; appointments: 'show' | 'date' }
type Filter<Name> = Name extends 'custom_fields' ? `custom_fields[${string}]${'' | '_from' | '_to'}` : Name
/** The parameters of a list. Its filters are those of the API. */
type ListParameter<K extends RecordKind> =
  | Filter<keyof QueryOf<K>>
  | ('open' | 'create' | 'columns' | 'group' | 'saved')
  | (K extends keyof OwnParameters ? OwnParameters[K] : never)

/** The pages in the frame that are not of records. */
type OtherPages = {
  '/': never
  '/notifications': 'unread'
  '/reports': 'report' | 'by' | 'as' | 'months' | 'period' | 'from' | 'to' | 'owner_id'
  '/trash': 'kind' | 'page'
  '/audit-log': 'kind' | 'record_id' | 'action' | 'actor_id' | 'from' | 'to'
  '/settings': never
  '/settings/profile': never
  '/settings/workspace': never
  '/settings/members': 'page' | 'create'
  '/settings/imports': 'page'
  '/settings/imports/new': 'resource'
  '/settings/imports/$id': never
  '/settings/fields': 'kind'
  '/settings/stages': never
  '/settings/keys': 'page' | 'create'
  '/settings/webhooks': 'page' | 'create'
  '/settings/webhooks/$id': never
  '/settings/deliveries':
    | ('webhook_id' | 'event' | 'event_id' | 'kind' | 'record_id' | 'status' | 'status_code')
    | ('from' | 'to' | 'open')
  '/settings/deliveries/$id': 'attempt'
  '/settings/mail': 'page' | 'status' | 'kind' | 'recipient'
  '/settings/mail/$id': never
}

type RecordPages = { [K in RecordKind as KindPath<K>]: ListParameter<K> } & {
  [K in RecordKind as `${KindPath<K>}/$id`]: 'tab' | 'note'
} & { [K in MergedKind as `${KindPath<K>}/duplicates`]: never } & {
  [K in MergedKind as `${KindPath<K>}/$id/merge`]: 'with'
}

type Pages = OtherPages & RecordPages
type Route = keyof Pages

// router.tsx has a component for each of these.
export type OtherRoute = keyof OtherPages

/** The paths of a route. The id of a record is a number, others are texts. */
type PathOf<R extends Route> = R extends `${infer Before}/$id${infer After}`
  ? `${Before}/${Before extends KindPath ? number : string}${After}`
  : R

/** The path of a page, such as `/contacts/12`. */
export type Path = PathOf<Route>

/** The path of the page of a record. */
export type RecordPath = `${KindPath}/${number}`

type RouteOf<P extends Path> = {
  [R in Route]: P extends PathOf<R> ? R : PathOf<R> extends P ? R : never
}[Route]

/** The search parameters of a page, as plain text; of several pages, those that any of them has. */
export type Search<P extends Path = Path> = { [Name in Pages[RouteOf<P>]]?: string }

/** A page with its search parameters. */
export type Target<P extends Path = Path> = { to: P; search?: Search<P> | undefined }
