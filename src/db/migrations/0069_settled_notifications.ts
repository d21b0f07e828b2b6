import type { Migration } from '../migrate.ts'

/** Mails of notifications are written with them, so nothing marks those that wait. Earlier versions write the mark. */
export const settledNotifications: Migration = {
  name: '0069_settled_notifications',
  kind: 'contract',
  statements: () => ['DROP INDEX notifications_mail_due', 'ALTER TABLE notifications DROP COLUMN mail_due'],
}
