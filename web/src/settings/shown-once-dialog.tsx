import { laterDialog } from '../app/contained.tsx'

/** Shows a secret in a dialog that only its button closes. It is loaded when it first opens. */
export const ShownOnceDialog = laterDialog(async () => (await import('./shown-once.tsx')).ShownOnce)
