import { sql } from 'kysely'
import { differingZones } from '../../across/zones/in-use.ts'
import { isoTime } from '../../clock.ts'
import { clockChanges } from '../../resources/appointments/clocks.ts'
import { zoneSources } from '../../zones/zones.ts'
import { counted } from '../text.ts'
import type { Life } from './clock.ts'
import { type Examined, type Finding, ok, warning } from './finding.ts'

const sources = { node: 'Node', system: 'this system', rapport: 'Rapport' }

/** Which zone data counts, the zones in use whose rules are not those of Node, and appointments that new rules moved. */
export async function examineZones({ db }: Examined, { now_ms }: Life): Promise<Finding[]> {
  const [newest, ...others] = zoneSources().map(({ source, version }) => `${version} of ${sources[source]}`)
  const zones = zoneSources()[0]?.source === 'node' ? [] : await differingZones(db, now_ms)
  const differing = zones.length ? ` In use with other rules than those of Node: ${zones.join(', ')}.` : ''
  const data = `The newest zone data is ${newest}, before ${others.join(' and ')}.${differing}`
  return [ok('zones', data), ...(await movedAppointments({ db }, now_ms))]
}

async function movedAppointments({ db }: Pick<Examined, 'db'>, now_ms: number): Promise<Finding[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM workspaces ORDER BY id`.execute(db)
  const findings: Finding[] = []
  for (const { id } of rows) {
    const changes = await clockChanges(db, id, isoTime(now_ms))
    if (!changes.length) continue
    const zones = [...new Set(changes.map(({ time_zone }) => time_zone))]
    findings.push(
      warning(
        'zones',
        `New rules of ${zones.join(', ')} move ${counted(changes.length, 'appointment')} of workspace ${id} on the wall clock.`,
        'Open the calendar, and keep their wall clock or their time. The API: GET /api/v1/appointments/clock-changes',
      ),
    )
  }
  return findings
}
