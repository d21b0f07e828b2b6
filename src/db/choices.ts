import type { Db, Tx } from './db.ts'

// The values that a workspace offers for fields of its records. The rooms of the records say which values a list may have.

const lists = ['deal_stages', 'lost_reasons', 'contact_stages'] as const
export type ChoiceList = (typeof lists)[number]

/** A stage as the workspace shows it. Null stands for what is built in. */
export type StoredStage = {
  stage: string
  label: string | null
  colour: string | null
  probability: number | null
  stale_after_days: number | null
}

/** The choices of a workspace, each list in its order. A list is empty until an administrator keeps it. */
export type Choices = { deal_stages: StoredStage[]; lost_reasons: string[]; contact_stages: string[] }

export async function choicesOf(db: Db, workspace_id: number): Promise<Choices> {
  const rows = await db
    .selectFrom('choices')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .orderBy('place')
    .execute()
  const of = (list: ChoiceList) => rows.filter((row) => row.list === list)
  const textsOf = (list: ChoiceList) => of(list).map(({ value }) => value)
  return {
    deal_stages: of('deal_stages').map(({ value: stage, label, colour, probability, stale_after_days }) => ({
      stage,
      label,
      colour,
      probability,
      stale_after_days,
    })),
    lost_reasons: textsOf('lost_reasons'),
    contact_stages: textsOf('contact_stages'),
  }
}

/** Replaces the lists that are given. */
export async function saveChoices(tx: Tx, workspace_id: number, sent: Partial<Choices>): Promise<void> {
  const none = { label: null, colour: null, probability: null, stale_after_days: null }
  const rows = lists.flatMap((list) =>
    (sent[list] ?? []).map((one, place) => {
      const { stage: value, ...more } = typeof one === 'string' ? { stage: one, ...none } : one
      return { workspace_id, list, value, place, ...more }
    }),
  )
  const changed = lists.filter((list) => sent[list])
  await tx
    .deleteFrom('choices')
    .where('workspace_id', '=', workspace_id)
    .where('list', 'in', changed)
    .execute()
  if (rows.length) await tx.insertInto('choices').values(rows).execute()
}
