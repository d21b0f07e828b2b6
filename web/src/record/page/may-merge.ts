import { useMay } from '../../app/session.ts'
import { isMerged, useAllKinds } from '../kinds.ts'

/** Whether the role may merge records of a kind: it also changes what belongs to them. */
export function useMayMerge(kind: string): boolean {
  const may = useMay()
  const linked = useAllKinds().filter(({ related }) => (related?.to as string[] | undefined)?.includes(kind))
  return isMerged(kind) && [kind, ...linked.map((one) => one.kind)].every((one) => may(`${one}:write`))
}
