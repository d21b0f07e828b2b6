import type { Operation } from '../http/operation.ts'
import { mainOf } from '../resources/derived.ts'
import type { Resource } from '../resources/resource.ts'

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

// By the operation's method and path.
const fixed: Record<string, Named> = {
  'GET /api/v1/search': {
    name: 'search',
    title: 'Search',
    description: 'Finds contacts, companies, deals and others by words, the best matches first. Begin here.',
  },
  'GET /api/v1/custom-fields': {
    name: 'list_custom_fields',
    title: 'List custom fields',
    description:
      'The custom fields that this workspace defines: kind of record, key, label, type and options.',
  },
  'GET /api/v1/workspace/stages': {
    name: 'list_stages',
    title: 'List stages',
    description:
      'What this workspace calls its deal stages, in its order, with their codes; the reasons of a loss and the contact stages that it uses.',
  },
  'POST /api/v1/deals/:id/change-stage': {
    name: 'change_deal_stage',
    title: 'Move a deal to another stage',
    description: 'Moves a deal to another stage of the pipeline. A lost deal needs `lost_reason`.',
  },
  'POST /api/v1/activities/:id/complete': {
    name: 'complete_activity',
    title: 'Complete an activity',
    description: 'Marks a call, task or meeting as done, with its outcome.',
  },
  'POST /api/v1/activities/:id/reopen': {
    name: 'reopen_activity',
    title: 'Reopen an activity',
    description: 'Marks a completed activity as open again.',
  },
  'GET /api/v1/reports/pipeline': {
    name: 'pipeline_report',
    title: 'Pipeline report',
    description: 'The number and the value of deals in each stage, and the forecast.',
  },
  'GET /api/v1/reports/activities': {
    name: 'activity_report',
    title: 'Activity report',
    description: 'How many activities were done, by type and time.',
  },
  'GET /api/v1/audit-log': {
    name: 'list_changes',
    title: 'List changes',
    description:
      'Who changed what and when, the newest first. With `kind` and `record_id`: the history of one record.',
  },
  'POST /api/v1/audit-log/groups/:group_id/revert': {
    name: 'revert_changes',
    title: 'Revert the changes of a session',
    description: 'Takes back all changes of a `change_group`, except of records that were changed later.',
    destructive: true,
  },
}

/** The tools for the records of a main resource. Its notes are named as in timelines: `note`, `company_note`. */
function toolsOfRecords({ table, path, noun }: Resource, note: string | undefined): Record<string, Named> {
  const kinds = table.replaceAll('_', ' ')
  const one = noun.replaceAll(' ', '_')
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a'
  return {
    [`GET ${path}`]: {
      name: `find_${table}`,
      title: `Find ${kinds}`,
      description: `Lists ${kinds} by filters, with the exact total. Several values by comma, \`!\` before a value for "not", \`null\` for empty.`,
    },
    [`GET ${path}/:id`]: {
      name: `get_${one}`,
      title: `Read ${a} ${noun}`,
      description: `All fields of ${a} ${noun}.`,
    },
    [`POST ${path}`]: {
      name: `create_${one}`,
      title: `Create ${a} ${noun}`,
      description: `Creates ${a} ${noun}. Search first: it may exist.`,
    },
    [`PUT ${path}/:id`]: {
      name: `update_${one}`,
      title: `Change ${a} ${noun}`,
      description: 'Changes the fields that are sent, and no others.',
    },
    [`DELETE ${path}/:id`]: {
      name: `delete_${one}`,
      title: `Delete ${a} ${noun}`,
      description: `Moves ${a} ${noun} to the trash. \`restore_${one}\` brings it back.`,
      destructive: true,
    },
    [`POST ${path}/:id/restore`]: {
      name: `restore_${one}`,
      title: `Restore ${a} ${noun}`,
      description: `Brings ${a} ${noun} back from the trash.`,
    },
    ...(note && {
      [`GET ${path}/:id/notes`]: {
        name: `list_${note}s`,
        title: `List the notes of ${a} ${noun}`,
        description: `The notes of ${a} ${noun}, the newest first.`,
      },
      [`POST ${path}/:id/notes`]: {
        name: `add_${note}`,
        title: `Add a note to ${a} ${noun}`,
        description: `Adds a note to ${a} ${noun}. Use it to write down what was said or agreed.`,
      },
    }),
    [`GET ${path}/:id/timeline`]: {
      name: `${one}_timeline`,
      title: `Timeline of ${a} ${noun}`,
      description: `What happened with ${a} ${noun}: notes, activities, appointments and stages, the newest first.`,
    },
  }
}

/** The tools for the operations of the service. */
export function toolsOf(operations: readonly Operation[], resources: readonly Resource[]): Tool[] {
  const noteOf = ({ table }: Resource) =>
    resources.find(({ part_of }) => part_of?.table === table)?.timeline?.type
  const of_records = mainOf(resources).map((resource) => toolsOfRecords(resource, noteOf(resource)))
  const tables: Record<string, Named> = Object.assign({}, fixed, ...of_records)
  return operations.flatMap((operation) =>
    [operation.method].flat().flatMap((method): Tool[] => {
      const named = tables[`${method} ${operation.path}`]
      if (!named) return []
      const writes = method !== 'GET'
      return [{ destructive: false, ...named, operation, method, writes }]
    }),
  )
}
