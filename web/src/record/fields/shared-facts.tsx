import { type ChangesOf, recordApi } from '../../api/record-api.ts'
import type { OwnedKind } from '../kinds.ts'
import { useShowChanged } from '../refresh.ts'
import { CustomFields } from './custom-fields.tsx'
import type { Save } from './facts.tsx'
import { type Owned, OwnerField } from './owner.tsx'
import { TagsField } from './tags.tsx'

/** The facts that records of all these kinds have. */
export type Shared = Owned & { tags: readonly string[]; custom_fields: Record<string, unknown> }

type Props = { kind: OwnedKind; record: Shared; save: Save<OwnedKind> }

/** The facts that all records have: owner, tags and custom fields. */
export function SharedFacts({ kind, record, save }: Props) {
  const show = useShowChanged(kind)
  const { id, owner_id, tags, custom_fields } = record
  async function changeTag(tag: string, wanted: boolean) {
    const changed = await recordApi(kind).changeTag(id, tag, wanted)
    if (changed) show(changed)
  }
  const saving = (name: keyof Shared) =>
    save && ((value: unknown) => save({ [name]: value } as ChangesOf<OwnedKind>))
  return (
    <>
      <div className="fields">
        <OwnerField kind={kind} owner_id={owner_id} onSave={saving('owner_id')} />
        <TagsField value={tags} onChange={save && changeTag} />
      </div>
      <CustomFields kind={kind} value={custom_fields} onSave={saving('custom_fields')} />
    </>
  )
}
