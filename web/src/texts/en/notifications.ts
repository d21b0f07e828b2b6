type Who = (who: string) => string

const sentences: Record<string, Who> = {
  assigned: (who) => `${who} assigned {record} to you`,
  mentioned: (who) => `${who} mentioned you in a note on {record}`,
  mentioned_in: (who) => `${who} mentioned you in {record}`,
  webhook_failed: () => 'Deliveries to the webhook {record} fail',
}
const ended: Record<string, Who> = {
  succeeded: () => 'Your import {record} has ended',
  failed: () => 'Your import {record} has failed',
  cancelled: (who) => `${who} cancelled your import {record}`,
}

/** The texts of notifications. */
export const notifications = {
  sentences,
  ended,
  title: 'Notifications',
  title_with: (unread: number, written: string) =>
    unread ? `Notifications, ${written} unread` : 'Notifications',
  read_all: 'Mark all as read',
  read: 'Mark as read',
  read_one: (name: string) => `Mark as read: ${name}`,
  show: 'Show',
  all: 'All',
  only_unread: 'Unread',
  none_unread: 'You have read all notifications.',
  next: 'Next notification',
  previous: 'Previous notification',
  unread: 'Unread:',
  older: 'Show older notifications',
  today: 'Today',
  yesterday: 'Yesterday',
  none: 'Nothing new. Records that others assign to you appear here, notes and activities that mention you, and imports that end.',
  many: (count: string, records: string) => `${count} ${records.toLowerCase()}`,
  times: (count: string) => `${count} times`,
  deleted: 'a deleted record',
}
