import { type NotificationData, notifications, notificationsStore } from '@mantine/notifications'

/** Shows a toast at once. If the stack is full, the oldest toast is removed. */
export function showToast(toast: NotificationData): string {
  const { notifications: shown, limit } = notificationsStore.getState()
  const oldest = shown.find(({ autoClose }) => autoClose !== false)
  if (shown.length >= limit && oldest?.id) notifications.hide(oldest.id)
  return notifications.show(toast)
}
