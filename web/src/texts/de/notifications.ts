import type { notifications as english } from '../en/notifications.ts'

type Who = (who: string) => string

const sentences: Record<string, Who> = {
  assigned: (who) => `${who} hat Ihnen {record} zugewiesen`,
  mentioned: (who) => `${who} hat Sie in einer Notiz erwähnt: {record}`,
  mentioned_in: (who) => `${who} hat Sie erwähnt: {record}`,
  webhook_failed: () => 'Zustellungen an den Webhook {record} schlagen fehl',
}
const ended: Record<string, Who> = {
  succeeded: () => 'Ihr Import {record} ist beendet',
  failed: () => 'Ihr Import {record} ist gescheitert',
  cancelled: (who) => `${who} hat Ihren Import {record} abgebrochen`,
}

export const notifications: typeof english = {
  sentences,
  ended,
  title: 'Mitteilungen',
  title_with: (unread, written) => (unread ? `Mitteilungen, ${written} ungelesen` : 'Mitteilungen'),
  read_all: 'Alle als gelesen markieren',
  read: 'Als gelesen markieren',
  read_one: (name) => `Als gelesen markieren: ${name}`,
  show: 'Anzeigen',
  all: 'Alle',
  only_unread: 'Ungelesen',
  none_unread: 'Sie haben alle Mitteilungen gelesen.',
  next: 'Nächste Mitteilung',
  previous: 'Vorige Mitteilung',
  unread: 'Ungelesen:',
  older: 'Ältere Mitteilungen zeigen',
  today: 'Heute',
  yesterday: 'Gestern',
  none: 'Nichts Neues. Hier steht, was andere Ihnen zuweisen, in welchen Notizen und Aktivitäten Sie erwähnt werden und welche Importe beendet sind.',
  many: (count, records) => `${count} ${records}`,
  times: (count) => `${count}-mal`,
  deleted: 'einen gelöschten Eintrag',
}
