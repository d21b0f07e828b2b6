import type { NoteKind } from './note-kinds.ts'
import type { components, paths } from './schema.d.ts'

/**
 * The kinds of records that have a page: all kinds of the trash except notes, which are part of another record.
 */
export type RecordKind = Exclude<components['schemas']['TrashedRecord']['kind'], NoteKind>

/** The kinds whose records can be merged. */
export type MergedKind = 'contacts' | 'companies'

// booking_pages → /api/v1/booking-pages
export type Segment<K extends string> = K extends `${infer A}_${infer B}` ? `${A}-${Segment<B>}` : K
type ListPath<K extends RecordKind> = `/api/v1/${Segment<K>}`
export type Operation<Path, Method> = Path extends keyof paths
  ? Method extends keyof paths[Path]
    ? paths[Path][Method]
    : never
  : never
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never
export type Answer<O> = O extends { responses: infer R } ? Json<R[keyof R & (200 | 201)]> : never
type Data<O> = Answer<O> extends { data: infer D } ? D : never
type Body<O> = O extends { requestBody?: infer B } ? Json<B> : never
type Query<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never

export type List<K extends RecordKind> = Operation<ListPath<K>, 'get'>
export type RowOf<K extends RecordKind> = Data<List<K>> extends (infer Row)[] ? Row : never
export type RecordOf<K extends RecordKind> = Data<Operation<`${ListPath<K>}/{id}`, 'get'>>
export type QueryOf<K extends RecordKind> = Query<List<K>>
export type NewOf<K extends RecordKind> = Body<Operation<ListPath<K>, 'post'>>
export type ChangesOf<K extends RecordKind> = Partial<Body<Operation<`${ListPath<K>}/{id}`, 'put'>>>
