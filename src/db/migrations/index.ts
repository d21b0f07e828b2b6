import type { Migration } from '../migrate.ts'
import { foundation } from './0001_foundation.ts'
import { recordBlocks } from './0002_record_blocks.ts'

/** All migrations, in order. A released one never changes: add a new file and a line. */
export const migrations: Migration[] = [foundation, recordBlocks]
