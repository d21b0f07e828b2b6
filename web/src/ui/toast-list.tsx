import { Notifications } from '@mantine/notifications'

/** The toasts, in the corner of the window. */
export const ToastList = () => <Notifications position="bottom-right" limit={4} zIndex={290} />
