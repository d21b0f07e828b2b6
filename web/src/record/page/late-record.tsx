import type { ComponentType } from 'react'
import { late } from '../../app/late.ts'
import type { RecordProps } from '../kinds.ts'
import { AwaitedRecord } from './awaited-record.tsx'

/** A record beside its list. Its program is loaded when the first one opens, or before, when the page is idle. */
export const lateRecord = (load: () => Promise<ComponentType<RecordProps>>) => late(load, <AwaitedRecord />)
