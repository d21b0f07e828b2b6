import { randomUUID } from 'node:crypto'
import { listMembers } from '../../access/people/members.ts'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { keepServiceClock } from '../../db/service-clock.ts'
import { command } from '../../installed.ts'
import { findBySlug } from '../../resources/booking-pages/queries.ts'
import { byDependency, mainOf } from '../../resources/derived.ts'
import { resources } from '../../resources/index.ts'
import { type Command, UsageError } from '../command.ts'
import { withDatabase } from '../database.ts'
import { workspaceOf } from '../keys.ts'
import { counted } from '../text.ts'
import { planOf, type Size, type Step, sizes } from './plan.ts'
import { defineFields, runSteps } from './run.ts'

export const seed: Command = {
  options: {
    size: { value: 'S', about: `${Object.keys(sizes).join(' or ')}; default: small` },
    seed: {
      value: 'N',
      about: 'A number from 1 to 4294967295; the same one makes the same data; default: 1',
    },
    workspace: { value: 'ID', about: 'Its workspace; default: the only one' },
  },
  flags: { add: 'Also add to a workspace that has records' },
  notes: [
    'Companies, contacts, deals in all stages, activities, appointments, notes, custom fields and a booking page.',
    'Some notes are edited, and some mention a member, who is notified.',
    'The names are invented, and all addresses end in .example. Active webhooks of the workspace get the events.',
  ],
  async run({ options, flags, config, io }) {
    const size = sizeOf(options.size)
    const number = seedOf(options.seed)
    await withDatabase(config(), async (database) => {
      const { db } = database
      const workspace_id = await workspaceOf(db, options.workspace)
      if (!flags.has('add')) await refuseRecords(db, workspace_id)
      const clock = await keepServiceClock(database)
      const { records } = await listMembers(db, workspace_id, { per_page: 20, offset: 0 })
      const members = records.sort((a, b) => (a.id < b.id ? -1 : 1))
      const owners = members.map(({ id }) => id)
      const names = members.map(({ name }) => name)
      const slug = await freeSlug(db)
      const steps = planOf({ seed: number, size, now_ms: clock.now(), owners, names, slug })
      const place = { database, clock, workspace_id, request_id: `req_${randomUUID()}` }
      await defineFields(place)
      await runSteps(place, steps, (done) => io.status?.(`Made ${done} of ${steps.length}`))
      io.status?.('')
      io.out(`Made ${summary(steps)} in workspace ${workspace_id}.`)
      io.out(`The booking page is at /book/${slug}`)
    })
    return 0
  },
}

function sizeOf(text = 'small'): Size {
  if (Object.hasOwn(sizes, text)) return text as Size
  throw new UsageError(`--size must be ${Object.keys(sizes).join(' or ')}.`)
}

function seedOf(text = '1'): number {
  const number = Number(text)
  if (/^\d{1,10}$/.test(text) && number >= 1 && number <= 0xffffffff) return number
  throw new UsageError('--seed must be a number from 1 to 4294967295.')
}

async function refuseRecords(db: Db, workspace_id: number): Promise<void> {
  for (const { table: kind, noun, part_of } of byDependency(resources)) {
    const count = part_of ? 0 : await countOf(db, workspace_id, kind)
    if (count > 0)
      throw new Error(
        `Workspace ${workspace_id} has ${counted(count, noun, kind.replace('_', ' '))}. To add to them: --add. To make another workspace: ${command('workspaces create --name N')}`,
      )
  }
}

// The addresses of booking pages are unique among all workspaces.
async function freeSlug(db: Db): Promise<string> {
  for (let number = 1; ; number++) {
    const slug = number === 1 ? 'intro-call' : `intro-call-${number}`
    if (!(await findBySlug(db, slug))) return slug
  }
}

const nouns = [...byDependency(mainOf(resources)), { noun: 'note', table: 'notes' }]

const summary = (steps: readonly Step[]): string =>
  nouns.map(({ noun, table }) => `${steps.filter(({ kind }) => kind === noun).length} ${table}`).join(', ')
