import type { Migration } from '../migrate.ts'

/** The day of the last daily digest of a member. */
export const digests: Migration = {
  name: '0055_digests',
  kind: 'expand',
  statements: () => ['ALTER TABLE memberships ADD COLUMN digest_day text'],
}
