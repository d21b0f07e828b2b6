import type { Migration } from '../migrate.ts'
import { foundation } from './0001_foundation.ts'
import { recordBlocks } from './0002_record_blocks.ts'
import { sortNames } from './0003_sort_names.ts'
import { listOrders } from './0004_list_orders.ts'
import { activities } from './0005_activities.ts'
import { appointments } from './0006_appointments.ts'
import { auditLog } from './0007_audit_log.ts'
import { finalRemoval } from './0008_final_removal.ts'
import { timelines } from './0009_timelines.ts'
import { people } from './0010_people.ts'
import { interruptions } from './0011_interruptions.ts'
import { backlogs } from './0012_backlogs.ts'
import { accounts } from './0013_accounts.ts'
import { auditLogKinds } from './0014_audit_log_kinds.ts'
import { bookingLimits } from './0015_booking_limits.ts'
import { searchTokens } from './0016_search_tokens.ts'
import { companyIndex } from './0017_company_index.ts'
import { migrationKinds } from './0018_migration_kinds.ts'
import { eventTraces } from './0019_event_traces.ts'
import { recordFields } from './0020_record_fields.ts'
import { filters } from './0021_filters.ts'
import { imports } from './0022_imports.ts'
import { merges } from './0023_merges.ts'
import { fieldDefinitions } from './0024_field_definitions.ts'
import { reassignments } from './0025_reassignments.ts'
import { batches } from './0026_batches.ts'
import { webhookOptions } from './0027_webhook_options.ts'
import { backfills } from './0028_backfills.ts'
import { changeGroups } from './0029_change_groups.ts'
import { importSources } from './0030_import_sources.ts'
import { notifications } from './0031_notifications.ts'
import { importProgress } from './0032_import_progress.ts'
import { notesOfRecords } from './0033_notes_of_records.ts'
import { viewsOfMembers } from './0034_views_of_members.ts'
import { importKinds } from './0035_import_kinds.ts'
import { mergeLinkRecords } from './0036_merge_link_records.ts'
import { importErrorCodes } from './0037_import_error_codes.ts'
import { equalCharacters } from './0038_equal_characters.ts'
import { deliveryFilters } from './0039_delivery_filters.ts'
import { fanouts } from './0040_fanouts.ts'
import { appointmentClocks } from './0041_appointment_clocks.ts'
import { work } from './0042_work.ts'
import { importAccounts } from './0043_import_accounts.ts'
import { sameTexts } from './0044_same_texts.ts'
import { matchIndexes } from './0045_match_indexes.ts'

/** All migrations, in order. A released one never changes: add a new file and a line. */
export const migrations: Migration[] = [
  foundation,
  recordBlocks,
  sortNames,
  listOrders,
  activities,
  appointments,
  auditLog,
  finalRemoval,
  timelines,
  people,
  interruptions,
  backlogs,
  accounts,
  auditLogKinds,
  bookingLimits,
  searchTokens,
  companyIndex,
  migrationKinds,
  eventTraces,
  recordFields,
  filters,
  imports,
  merges,
  fieldDefinitions,
  reassignments,
  batches,
  webhookOptions,
  backfills,
  changeGroups,
  importSources,
  notifications,
  importProgress,
  notesOfRecords,
  viewsOfMembers,
  importKinds,
  mergeLinkRecords,
  importErrorCodes,
  equalCharacters,
  deliveryFilters,
  fanouts,
  appointmentClocks,
  work,
  importAccounts,
  sameTexts,
  matchIndexes,
]
