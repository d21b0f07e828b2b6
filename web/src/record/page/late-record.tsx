import { type ComponentType, lazy, Suspense } from 'react'
import { whenIdle } from '../../app/idle.ts'
import { loaded } from '../../app/loading.ts'
import type { RecordProps } from '../kinds.ts'
import { AwaitedRecord } from './awaited-record.tsx'

/** A record beside its list. Its program is loaded when the first one opens, or before, when the page is idle. */
export function lateRecord(load: () => Promise<ComponentType<RecordProps>>): ComponentType<RecordProps> {
  const Record = lazy(async () => ({ default: await loaded(load()) }))
  whenIdle(load)
  return (props) => (
    <Suspense fallback={<AwaitedRecord />}>
      <Record {...props} />
    </Suspense>
  )
}
