import { bodyFor } from '../../events/emit.ts'

export const formats = ['envelope', 'slack', 'teams'] as const
export type Format = (typeof formats)[number]

type StoredEvent = { payload: string; seq: number }

/** The request body of a delivery. `format` is as stored: null for the envelope. It has the same bytes in each attempt. */
export type BuildBody = (event: StoredEvent, webhook_id: string, format: string | null) => string

/** The words of messages about the records of an event. `path` is the web app's list of them. */
export type Subject = { noun: string; title: readonly string[]; path: string }

type Payload = {
  event: string
  test?: boolean
  data: Record<string, unknown>
  changed_fields?: string[]
  actor?: { name: string | null }
}

/**
 * Builds the bodies of all formats. Messages are made of texts without markup, so that nothing in a name of a record is
 * read as markup. Links begin with `public_url`; without it there are none.
 */
export function createBuildBody(
  subjectOf: (event: string) => Subject | undefined,
  public_url: string | null,
): BuildBody {
  return (event, webhook_id, format) => {
    if (format === null) return bodyFor(event, webhook_id)
    const message = messageOf(JSON.parse(event.payload), subjectOf, public_url)
    return JSON.stringify(format === 'slack' ? slack(message) : teams(message))
  }
}

/** A sentence around the name of a record. */
type Message = { before: string; title: string; after: string; url: string | null }

const verbs: Record<string, string> = {
  created: 'was created',
  updated: 'was changed',
  deleted: 'was deleted',
  won: 'was won',
  lost: 'was lost',
  completed: 'was completed',
  cancelled: 'was cancelled',
  stage_changed: 'moved',
}

function messageOf(
  payload: Payload,
  subjectOf: (event: string) => Subject | undefined,
  public_url: string | null,
): Message {
  const { event, test, data } = payload
  const subject = subjectOf(event)
  if (!subject) return { before: 'This is a test of your webhook.', title: '', after: '', url: null }
  const [, name = ''] = event.split('.')
  const verb = verbs[name] ?? `has a new event: ${name.replaceAll('_', ' ')}`
  const linked = public_url !== null && name !== 'deleted' && typeof data.id === 'number'
  return {
    before: `${test ? 'Test: ' : ''}${subject.noun.charAt(0).toUpperCase()}${subject.noun.slice(1)} `,
    title: titleOf(subject, data),
    after: ` ${verb}${details(payload)}${by(payload)}.`,
    url: linked ? `${public_url}/${subject.path}/${data.id}` : null,
  }
}

const max_title = 150

// One line: a line break of a name must not look like a line of its own.
const plain = (text: string) => text.replace(/\s+/g, ' ').trim()

function titleOf({ title }: Subject, data: Record<string, unknown>): string {
  const text = plain(title.map((field) => data[field] ?? '').join(' '))
  const letters = [...text]
  if (letters.length > max_title) return `${letters.slice(0, max_title).join('')}…`
  return text || `${data.id ?? ''}`
}

function details({ data, changed_fields }: Payload): string {
  if (changed_fields?.length) return `: ${changed_fields.map(readable).join(', ')}`
  const { previous_stage, new_stage, lost_reason } = data
  if (previous_stage && new_stage) return ` from ${readable(previous_stage)} to ${readable(new_stage)}`
  return lost_reason ? ` (${plain(String(lost_reason))})` : ''
}

const readable = (name: unknown) => String(name).replaceAll('_', ' ')

const by = ({ actor }: Payload) => (actor?.name ? ` by ${plain(actor.name)}` : '')

// The parts of a rich text are not read as markup. The text is for notifications, and for other programs that take
// messages of Slack. It needs the entities of Slack, and `mrkdwn` turns the rest of the markup off.
function slack({ before, title, after, url }: Message) {
  const escaped = `${before}${title}${after}`
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  const name = url === null ? { type: 'text', text: title } : { type: 'link', url, text: title }
  const elements = [{ type: 'text', text: before }, name, { type: 'text', text: after }]
  return {
    text: url === null ? escaped : `${escaped} ${url}`,
    mrkdwn: false,
    blocks: [
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_section', elements: elements.filter(({ text }) => text !== '') }],
      },
    ],
  }
}

// The card that workflows of Teams take. Runs of a RichTextBlock have no markup, unlike a TextBlock.
function teams({ before, title, after, url }: Message) {
  const open = { type: 'Action.OpenUrl', title: 'Open', url }
  const runs = [
    { type: 'TextRun', text: before },
    { type: 'TextRun', text: title, weight: 'Bolder' },
    { type: 'TextRun', text: after },
  ]
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [{ type: 'RichTextBlock', inlines: runs.filter(({ text }) => text !== '') }],
          ...(url !== null && { actions: [open] }),
        },
      },
    ],
  }
}
