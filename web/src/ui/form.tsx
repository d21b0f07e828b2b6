import { laterDialog } from '../app/contained.tsx'
import type { FormDialog as Form } from './form-dialog.tsx'

/** A form in a dialog, loaded when it first opens. */
export const FormDialog = laterDialog(
  async () => (await import('./form-dialog.tsx')).FormDialog,
) as typeof Form
