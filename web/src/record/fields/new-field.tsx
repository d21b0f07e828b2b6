import { Button, Group, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { explain } from '../../app/explain.ts'
import { useTexts } from '../../texts/texts.ts'
import { NumberInput } from '../../ui/inputs.tsx'
import { unreadIn } from '../../ui/unread.ts'
import type { CustomChanges, CustomValue } from './definitions.ts'
import { yesOrNo } from './yes-or-no.ts'

type NewProps = { taken: string[]; onSave: (changes: CustomChanges) => Promise<unknown>; onClose: () => void }

/** The name, type and value of a custom field that is added to a record. */
export function NewField({ taken, onSave, onClose }: NewProps) {
  const t = useTexts()
  const [name, setName] = useState('')
  const [type, setType] = useState('text')
  const [value, setValue] = useState<CustomValue | null>(null)
  const [problem, setProblem] = useState<{ name?: string; value?: string }>({})
  const [saving, setSaving] = useState(false)
  async function save() {
    const key = name.trim()
    const { required } = t.app.field_problems
    if (!key) return setProblem({ name: required })
    if (taken.includes(key)) return setProblem({ name: t.record.field_exists })
    if (value === null || value === '') return setProblem({ value: required })
    setSaving(true)
    setProblem({})
    try {
      await onSave({ [key]: value })
      onClose()
    } catch (error) {
      setProblem({ value: explain(error, t) })
    } finally {
      setSaving(false)
    }
  }
  const given = { label: t.fields.value, size: 'xs', error: problem.value } as const
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!unreadIn(event.currentTarget)) save()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose()
      }}
    >
      <Group gap="sm" mt="sm" grow align="start">
        <TextInput
          label={t.fields.name}
          size="xs"
          maxLength={64}
          autoFocus
          value={name}
          error={problem.name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label={t.fields.type}
          size="xs"
          data={[
            { value: 'text', label: t.record.type_text },
            { value: 'number', label: t.record.type_number },
            { value: 'boolean', label: t.record.type_boolean },
          ]}
          value={type}
          onChange={(next) => {
            setType(next ?? 'text')
            setValue(next === 'boolean' ? true : null)
          }}
        />
        {type === 'boolean' ? (
          <Select
            {...given}
            data={yesOrNo(t.app.yes, t.app.no)}
            value={String(value)}
            onChange={(next) => setValue(next === 'true')}
          />
        ) : type === 'number' ? (
          // The decimal keyboard of phones has no minus.
          <NumberInput {...given} inputMode="text" value={value as number | null} onChange={setValue} />
        ) : (
          <TextInput
            {...given}
            value={String(value ?? '')}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
        )}
      </Group>
      <Group gap="sm" mt="sm">
        <Button type="submit" loading={saving}>
          {t.app.add}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t.app.cancel}
        </Button>
      </Group>
    </form>
  )
}
