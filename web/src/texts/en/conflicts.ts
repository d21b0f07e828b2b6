import type { Facts } from '../../api/problem.ts'

/** The conflicts that the API answers with, by reason. `facts` are the numbers and names of its message. */
export const conflicts = {
  appointment_answered: () => 'This appointment is no longer a request.',
  appointments_overlap: () => 'This time is taken: another appointment of the booking page overlaps it.',
  backfill_running: () => 'Records are being sent to this webhook. Stop that first, or wait for its end.',
  backfill_stopping: () => 'The last sending is being stopped. Try again in a second.',
  changed_since: () => 'This has changed since.',
  delivery_unfinished: () => 'This delivery is on its way. Only succeeded and failed ones can be sent again.',
  field_being_checked: () => 'The values of this field are being checked. Try again later.',
  field_check_timeout: () => 'The check of the existing values took too long. Try again.',
  field_removed: () => 'Somebody deleted this field while its values were checked.',
  import_dry_run: () => 'This import was a trial: there is nothing to undo.',
  import_ended: () => 'This import has ended. Undo puts back what it changed.',
  import_running: () => 'This import has not ended. Cancel it first.',
  key_of_another_body: () => 'Something was sent twice with different content. Load the page again and look.',
  last_owner: () => 'A workspace keeps at least one owner. Make somebody else an owner first.',
  member_already: () => 'You are a member of this workspace already.',
  merge_erased: () => 'A record of this merge was erased. It can no longer be undone.',
  merge_running: () => 'A merge with this record is not finished. Try again later.',
  merge_taken_back: () => 'The merge was taken back, and nothing was changed.',
  merge_too_old: ({ days }: Facts) => `This merge is older than ${days} days. It can no longer be undone.`,
  merged_again: () => 'The record that stayed was merged again. Undo that merge first.',
  merged_record: () => 'This record was merged into another one. Undo the merge instead.',
  merged_record_deleted: () => 'Somebody deleted the record that stays during the merge.',
  only_owner: ({ workspaces }: Facts) =>
    `You are the only owner of ${workspaces}. Make somebody else an owner there first.`,
  other_definition: () => 'There is another definition of this field, which is kept.',
  request_in_flight: () => 'The same request is still running. Try again in a moment.',
  request_lapsed: () => 'This request has lapsed. Create an appointment instead.',
  set_up_already: () => 'Somebody has an account already. Sign in, or ask for an invitation.',
  slug_taken: () => 'Another booking page has this address.',
  too_many_booking_pages: ({ most }: Facts) =>
    `A workspace has at most ${most} booking pages. Delete one first.`,
  too_many_changes: ({ most }: Facts) =>
    `At most ${most} changes can be taken back at once. Take the records back one by one.`,
  too_many_fields: ({ most }: Facts) => `At most ${most} custom fields are possible here. Delete one first.`,
  too_many_imports: ({ most }: Facts) =>
    `At most ${most} imports can wait. Wait for one to end, or cancel one.`,
  too_many_keys: ({ most }: Facts) => `A workspace has at most ${most} API keys. Revoke one first.`,
  too_many_notes: ({ most }: Facts) => `A record has at most ${most} notes. Delete one first.`,
  too_many_pending: ({ most }: Facts) =>
    `More than ${most} deliveries wait. Change the address when there are fewer.`,
  too_many_views: ({ most }: Facts) =>
    `A workspace has at most ${most} shared views, and a person ${most} private ones. Delete one first.`,
  too_many_webhooks: ({ most }: Facts) => `A workspace has at most ${most} webhooks. Delete one first.`,
  too_many_workspaces: ({ most }: Facts) => `A person owns at most ${most} workspaces. Use one of them.`,
  unique_value_taken: ({ field }: Facts) =>
    `Another record has the same ${field}. Change or delete that one, then restore this one.`,
  values_break_definition: ({ count }: Facts) =>
    count === 1
      ? '1 existing value does not fit. Change it first.'
      : `${count} existing values do not fit. Change them first.`,
  webhook_deleted: () => 'The webhook of this delivery was deleted.',
  webhook_paused: () => 'The webhook is paused. Resume it first.',
} satisfies Record<string, (facts: Facts) => string>
