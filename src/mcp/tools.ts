import type { Operation } from '../http/operation.ts'

/** A tool: an operation of the API, named and described for people and their assistants. */
export type Tool = {
  name: string
  title: string
  description: string
  operation: Operation
  method: string
  /** It changes something: it takes `dry_run` and `change_group`. */
  writes: boolean
  /** It takes something away. */
  destructive: boolean
}

type Named = Pick<Tool, 'name' | 'title' | 'description'> & { destructive?: boolean }

const records = ['contacts', 'companies', 'deals', 'activities', 'appointments'] as const
const one = {
  contacts: 'contact',
  companies: 'company',
  deals: 'deal',
  activities: 'activity',
  appointments: 'appointment',
}
// These have timelines and notes. The names of the first tools for notes do not say the kind.
const note_names: Record<string, string> = { contacts: 'note', companies: 'company_note', deals: 'deal_note' }

// By the operation's method and path below /api/v1.
const tables: Record<string, Named> = {
  'GET /search': {
    name: 'search',
    title: 'Search',
    description: 'Finds contacts, companies, deals and others by words, the best matches first. Begin here.',
  },
  'GET /custom-fields': {
    name: 'list_custom_fields',
    title: 'List custom fields',
    description:
      'The custom fields that this workspace defines: kind of record, key, label, type and options.',
  },
  'POST /deals/:id/change-stage': {
    name: 'change_deal_stage',
    title: 'Move a deal to another stage',
    description: 'Moves a deal to another stage of the pipeline. A lost deal needs `lost_reason`.',
  },
  'POST /activities/:id/complete': {
    name: 'complete_activity',
    title: 'Complete an activity',
    description: 'Marks a call, task or meeting as done, with its outcome.',
  },
  'POST /activities/:id/reopen': {
    name: 'reopen_activity',
    title: 'Reopen an activity',
    description: 'Marks a completed activity as open again.',
  },
  'GET /reports/pipeline': {
    name: 'pipeline_report',
    title: 'Pipeline report',
    description: 'The number and the value of deals in each stage, and the forecast.',
  },
  'GET /reports/activities': {
    name: 'activity_report',
    title: 'Activity report',
    description: 'How many activities were done, by type and time.',
  },
  'GET /audit-log': {
    name: 'list_changes',
    title: 'List changes',
    description:
      'Who changed what and when, the newest first. With `kind` and `record_id`: the history of one record.',
  },
  'POST /audit-log/groups/:group_id/revert': {
    name: 'revert_changes',
    title: 'Revert the changes of a session',
    description: 'Takes back all changes of a `change_group`, except of records that were changed later.',
    destructive: true,
  },
}
for (const kind of records) {
  const noun = one[kind]
  const a = noun.startsWith('a') ? 'an' : 'a'
  Object.assign(tables, {
    [`GET /${kind}`]: {
      name: `find_${kind}`,
      title: `Find ${kind}`,
      description: `Lists ${kind} by filters, with the exact total. Several values by comma, \`!\` before a value for "not", \`null\` for empty.`,
    },
    [`GET /${kind}/:id`]: {
      name: `get_${noun}`,
      title: `Read ${a} ${noun}`,
      description: `All fields of ${a} ${noun}.`,
    },
    [`POST /${kind}`]: {
      name: `create_${noun}`,
      title: `Create ${a} ${noun}`,
      description: `Creates ${a} ${noun}. Search first: it may exist.`,
    },
    [`PUT /${kind}/:id`]: {
      name: `update_${noun}`,
      title: `Change ${a} ${noun}`,
      description: 'Changes the fields that are sent, and no others.',
    },
    [`DELETE /${kind}/:id`]: {
      name: `delete_${noun}`,
      title: `Delete ${a} ${noun}`,
      description: `Moves ${a} ${noun} to the trash. \`restore_${noun}\` brings it back.`,
      destructive: true,
    },
    [`POST /${kind}/:id/restore`]: {
      name: `restore_${noun}`,
      title: `Restore ${a} ${noun}`,
      description: `Brings ${a} ${noun} back from the trash.`,
    },
    ...(note_names[kind] && {
      [`GET /${kind}/:id/notes`]: {
        name: `list_${note_names[kind]}s`,
        title: `List the notes of ${a} ${noun}`,
        description: `The notes of ${a} ${noun}, the newest first.`,
      },
      [`POST /${kind}/:id/notes`]: {
        name: `add_${note_names[kind]}`,
        title: `Add a note to ${a} ${noun}`,
        description: `Adds a note to ${a} ${noun}. Use it to write down what was said or agreed.`,
      },
      [`GET /${kind}/:id/timeline`]: {
        name: `${noun}_timeline`,
        title: `Timeline of ${a} ${noun}`,
        description: `What happened with ${a} ${noun}: notes, activities, appointments and stages, the newest first.`,
      },
    }),
  } satisfies Record<string, Named>)
}

const base = '/api/v1'

/** The tools for the operations of the service. */
export function toolsOf(operations: readonly Operation[]): Tool[] {
  return operations.flatMap((operation) =>
    [operation.method].flat().flatMap((method): Tool[] => {
      const named = tables[`${method} ${operation.path.replace(base, '')}`]
      if (!named) return []
      const writes = method !== 'GET'
      return [{ destructive: false, ...named, operation, method, writes }]
    }),
  )
}
