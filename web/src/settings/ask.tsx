import { laterDialog } from '../app/contained.tsx'

/** Confirms an action that cannot be undone. The dialog is loaded when it first opens. */
export const Ask = laterDialog(async () => (await import('./ask-dialog.tsx')).AskDialog)
