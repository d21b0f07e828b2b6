import assert from 'node:assert/strict'
import { joinAs } from '../web/people.ts'
import { fillWorkspace } from '../web/records.ts'
import type { Web } from '../web.ts'

export const long_name = 'Maximiliane-Alexandra von Hohenlohe-Waldenburg-Schillingsfürst'

export const day = (from_now: number) =>
  new Date(Date.now() + from_now * 86_400_000).toISOString().slice(0, 10)

/**
 * Deals with four decimals that skip stages, go back, are overdue or undated, and activities of two people. Returns the session
 * of one of them, who reads German.
 */
export async function fillReports({ rapport }: Web): Promise<string> {
  await fillWorkspace(rapport)
  const german = await joinAs(rapport, 'gerda@example.test', 'member', { language: 'de', name: long_name })
  const { call } = rapport
  const sent = async (path: string, body: object) => {
    const { status, body: answer } = await call('POST', `/api/v1${path}`, body)
    assert.ok(status < 300, JSON.stringify(answer))
    return answer.data
  }
  const { data: members } = (await call('GET', '/api/v1/members')).body
  const gerda = members.find(({ name }: { name: string }) => name === long_name).id
  const move = (id: number, stage: string, reason = '=Preis, zu hoch') =>
    sent(`/deals/${id}/change-stage`, { stage, lost_reason: stage === 'lost' ? reason : null })
  // The weights of these are less than the last decimal, so sums of rounded weights would be wrong.
  for (const expected_close_date of [day(-20), day(400), null]) {
    const fields = { value: 0.0003, probability: 10, owner_id: gerda, expected_close_date }
    await sent('/deals', { name: 'Muster, je Stück', ...fields })
  }
  // A reason that is the text null is not a lost deal without a reason.
  for (const name of ['Import eins', 'Import zwei'])
    await move((await sent('/deals', { name, stage: 'demo' })).id, 'lost', 'null')
  await sent('/deals', { name: 'Import drei', stage: 'lost' })
  for (const [index, stage] of [
    'new_lead',
    'demo',
    'proposal',
    'verbal_commitment',
    'negotiation',
  ].entries()) {
    const { id } = await sent('/deals', {
      name: `Erneuerung ${index} der Rahmenverträge mit Größe & Söhne`,
      value: 753_505.2402 + index,
      stage,
      owner_id: gerda,
      expected_close_date: [day(-20), day(3), null, day(400), day(40)][index],
    })
    if (index === 1) await move(id, 'lost')
    if (index === 3) await move(id, 'demo')
    if (index === 4) await move(id, 'won')
  }
  for (const [type, hours_ago, done] of [
    ['call', 1, true],
    ['call', 1, false],
    ['meeting', 0, true],
    ['email', 1, false],
  ] as const) {
    // In this year, also on its first days.
    const due_at = new Date(Date.now() - hours_ago * 3_600_000).toISOString()
    const { id } = await sent('/activities', {
      subject: 'Rückruf zum Angebot',
      type,
      due_at,
      owner_id: gerda,
    })
    if (done) await sent(`/activities/${id}/complete`, { outcome: 'Will den Vertrag' })
  }
  return german
}
