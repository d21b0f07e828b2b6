import { useTexts } from '../texts/texts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { LostReason, type Props } from './lost-reason.tsx'

type DialogProps = Omit<Props, 'onCancel' | 'cancel'> & { opened: boolean; onClose: () => void }

/** Asks for the reason of a loss in a dialog, where there is no column. */
export function LostReasonDialog({ opened, onClose, ...props }: DialogProps) {
  const t = useTexts()
  return (
    <Dialog opened={opened} onClose={onClose} title={t.deals.stages.lost} size="sm">
      <LostReason {...props} onCancel={onClose} />
    </Dialog>
  )
}
