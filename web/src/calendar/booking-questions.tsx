import { ActionIcon, Button, Switch, TextInput } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/with-booking.ts'
import { focusBeside } from '../ui/focus.ts'
import { Select, TagsInput } from '../ui/late-inputs.tsx'
import { problemOfList } from '../ui/list-problems.ts'
import { type Draft, question_types } from './booking.ts'
import type { Problems } from './hours-editor.tsx'

type Props = { draft: Draft; problems: Problems; onChange: (changes: Partial<Draft>) => void }
type Question = Draft['questions'][number]

const fresh: Question = { key: '', label: '', type: 'text', required: false, options: [] }

/** The questions of a booking page. */
export function BookingQuestions({ draft: { questions }, problems, onChange }: Props) {
  const t = useTexts()
  const change = (i: number, changes: Partial<Question>) =>
    onChange({ questions: questions.map((one, at) => (at === i ? { ...one, ...changes } : one)) })
  return (
    <fieldset className="booking-part">
      <legend>{t.booking.questions}</legend>
      <p className="booking-hint hint">{t.booking.questions_hint}</p>
      {questions.map(({ key, label, type, required, options }, i) => {
        const name = t.booking.question({ n: String(i + 1) })
        const problem = (field: string) => problemOfList(problems, `questions.${i}.${field}`)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a question has no id, and its key is edited here
          <fieldset key={i} ref={focusBeside} className="booking-question" aria-label={name}>
            <div className="booking-host">
              <span className="one-line">{name}</span>
              <ActionIcon
                aria-label={t.booking.remove_question({ n: String(i + 1) })}
                onClick={() => onChange({ questions: questions.filter((_, at) => at !== i) })}
              >
                <XIcon />
              </ActionIcon>
            </div>
            <TextInput
              label={t.booking.question_label}
              maxLength={255}
              value={label}
              error={problem('label')}
              onChange={(event) => change(i, { label: event.currentTarget.value })}
            />
            <div className="form-pair">
              <TextInput
                label={t.booking.question_key}
                required
                maxLength={64}
                value={key}
                error={problem('key')}
                onChange={(event) => change(i, { key: event.currentTarget.value })}
              />
              <Select
                label={t.fields.type}
                data={question_types.map((value) => ({ value, label: t.booking.question_types[value] }))}
                value={type}
                allowDeselect={false}
                error={problem('type')}
                onChange={(value) => change(i, { type: value as Question['type'], options: [] })}
              />
            </div>
            {type === 'select' && (
              <TagsInput
                label={t.booking.question_options}
                value={options}
                error={problem('options')}
                onChange={(options) => change(i, { options })}
              />
            )}
            <Switch
              label={t.booking.question_required}
              checked={required}
              onChange={(event) => change(i, { required: event.currentTarget.checked })}
            />
          </fieldset>
        )
      })}
      {questions.length < 20 && (
        <Button
          ref={focusBeside}
          variant="default"
          onClick={() => onChange({ questions: [...questions, fresh] })}
        >
          {t.booking.add_question}
        </Button>
      )}
    </fieldset>
  )
}
