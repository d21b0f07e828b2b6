// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksum } from '../migrate.ts'
import { migrations } from './index.ts'

// The first 16 digits of the checksums that databases keep: SQLite, PostgreSQL. Add a line at each release.
const released: Record<string, [sqlite: string, postgres: string]> = {
  '0001_foundation': ['fb064848ddb7cfdd', 'ef123f345437bfbc'],
  '0002_record_blocks': ['c0f852096a3161db', 'be3ecf74d9cfbd32'],
  '0003_sort_names': ['18e9063594a3bc4a', '4c27ce58c9e25139'],
  '0004_list_orders': ['9902370ed274d2a0', '9902370ed274d2a0'],
  '0005_activities': ['b607b9c0d3408861', 'c9a431021f0b8d7b'],
  '0006_appointments': ['b2b6e8796783fb39', 'fcfb0aa40436bfae'],
  '0007_audit_log': ['742f3e9ccb19dcf2', 'eb78a6ee2691129b'],
  '0008_final_removal': ['0dcad98f97c9eda8', '0dcad98f97c9eda8'],
  '0009_timelines': ['01034b5e91d96708', '01034b5e91d96708'],
  '0010_people': ['1653346ab160f852', 'a90ae840aa0e2dc7'],
  '0011_interruptions': ['0331760b1da84f2a', 'f59f534486131bf7'],
  '0012_backlogs': ['031f01a5b776a536', '031f01a5b776a536'],
  '0013_accounts': ['1b2817e214a51081', '7ec3380b81d94789'],
  '0014_audit_log_kinds': ['c48543f84f542da9', 'c48543f84f542da9'],
  '0015_booking_limits': ['14f365461d707748', '62ab87c5ee83a018'],
  '0016_search_tokens': ['3cf4958505883814', 'e3b0c44298fc1c14'],
  '0017_company_index': ['9f8fb759b1db434e', 'e3b0c44298fc1c14'],
  '0018_migration_kinds': ['1f27b0b455c1ad11', '1f27b0b455c1ad11'],
  '0019_event_traces': ['b08a4d380db1417a', 'b08a4d380db1417a'],
}

test('a released migration never changes: databases that ran it still start', () => {
  const engines = ['sqlite', 'postgres'] as const
  const now = migrations.map(({ name, statements }) => [
    name,
    engines.map((engine) => checksum(statements(engine)).slice(0, 16)),
  ])
  assert.deepEqual(Object.fromEntries(now.slice(0, Object.keys(released).length)), released)
})
