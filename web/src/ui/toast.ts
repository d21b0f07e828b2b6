import { type NotificationData, notifications, notificationsStore } from '@mantine/notifications'

/** Shows a toast at once: where there is no room for it, the oldest one goes, as it would soon by itself. */
export function showToast(toast: NotificationData): string {
  const { notifications: shown, limit } = notificationsStore.getState()
  const oldest = shown.find(({ autoClose }) => autoClose !== false)
  if (shown.length >= limit && oldest?.id) notifications.hide(oldest.id)
  return notifications.show(toast)
}
