import { byTexts, folded } from '../cells/words.ts'
import { type ChoiceList, type Choices, choicesOf } from '../db/choices.ts'
import type { Db } from '../db/db.ts'
import { sameName } from '../db/lists/same-text.ts'
import type { ImportForm } from '../resources/room.ts'

/** By the field, its value for a text that the workspace has for it: its own name of a stage is the code of the stage. */
export type OwnTexts = Readonly<Record<string, (text: string) => string | undefined>>

/** The texts that a workspace keeps for values of its records. */
export async function ownTextsOf(db: Db, workspace_id: number, { choices }: ImportForm): Promise<OwnTexts> {
  if (!choices) return {}
  const kept = await choicesOf(db, workspace_id)
  return Object.fromEntries(Object.entries(choices).map(([field, list]) => [field, readerIn(kept, list)]))
}

/** Without case, and with one blank between words: `in-talks` is `In talks`, and `A-` is not `A+`. */
const keyOf = (text: string) => sameName(text).replaceAll(/(?<=[\p{L}\p{N}])[\s_-]+(?=[\p{L}\p{N}])/gu, ' ')

/**
 * A stage of a deal is found by its label, else without its signs if one label alone is so. A value of a list of texts is found
 * with its signs.
 */
function readerIn(kept: Choices, list: ChoiceList): OwnTexts[string] {
  if (list !== 'deal_stages') {
    const by = new Map(kept[list].map((value) => [keyOf(value), value]))
    return (text) => by.get(keyOf(text))
  }
  const pairs = kept.deal_stages.flatMap(({ label, stage }) => (label ? [[label, stage] as const] : []))
  const by_label = new Map(pairs.map(([label, stage]) => [sameName(label), stage]))
  const without_signs = byTexts(pairs)
  return (text) => by_label.get(sameName(text)) ?? without_signs.get(folded(text))
}
