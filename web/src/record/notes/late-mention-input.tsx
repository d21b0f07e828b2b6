import { type ComponentProps, lazy, Suspense } from 'react'
import { whenIdle } from '../../app/idle.ts'
import { loaded } from '../../app/loading.ts'
import type { MentionInput as Input } from './mention-input.tsx'

const load = async () => (await import('./mention-input.tsx')).MentionInput
const Loaded = lazy(async () => ({ default: await loaded(load()) }))
whenIdle(load)

/** A text that offers members after `@`, loaded when it is first edited. */
export const MentionInput = (props: ComponentProps<typeof Input>) => (
  <Suspense>
    <Loaded {...props} />
  </Suspense>
)
