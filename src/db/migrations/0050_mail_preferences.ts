import type { Migration } from '../migrate.ts'

/** Which mails a person wants, and which notifications have still to be mailed. */
export const mailPreferences: Migration = {
  name: '0050_mail_preferences',
  kind: 'expand',
  statements: () => [
    'ALTER TABLE users ADD COLUMN mail_preferences text',
    'ALTER TABLE notifications ADD COLUMN mail_due bigint NOT NULL DEFAULT 0',
    'CREATE INDEX notifications_mail_due ON notifications (id) WHERE mail_due = 1',
  ],
}
