import type { Migration } from '../migrate.ts'
import { liveIndex } from './parts.ts'

/** The indexes of filters: free texts that work as codes, and the time when a deal was closed. */
export const filters: Migration = {
  name: '0021_filters',
  kind: 'expand',
  scans: ['contacts', 'companies', 'deals'],
  statements: () => [
    liveIndex('contacts', 'source_live', 'source', ' AND source IS NOT NULL'),
    liveIndex('companies', 'industry_live', 'industry', ' AND industry IS NOT NULL'),
    liveIndex('deals', 'priority_live', 'priority', ' AND priority IS NOT NULL'),
    liveIndex('deals', 'source_live', 'source', ' AND source IS NOT NULL'),
    liveIndex('deals', 'by_closing', 'closed_at', ' AND closed_at IS NOT NULL'),
  ],
}
