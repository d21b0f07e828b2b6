import type { activities as english } from '../en/activities.ts'

export const activities: typeof english = {
  switch: 'Welche Aktivitäten',
  shows: { today: 'Heute', overdue: 'Überfällig', upcoming: 'Geplant', done: 'Erledigt', all: 'Alle' },
  types: { call: 'Anruf', email: 'E-Mail', meeting: 'Treffen', task: 'Aufgabe', other: 'Anderes' },
  statuses: { open: 'Offen', completed: 'Erledigt', overdue: 'Überfällig' },
  overdue: 'überfällig',
  completed: 'Erledigt',
  body: 'Beschreibung',
  linked: 'Betrifft',
  facts: 'Angaben',
  complete: 'Erledigen',
  reopen: 'Wieder öffnen',
  complete_one: (subject) => `${subject} erledigen`,
  reopen_one: (subject) => `${subject} wieder öffnen`,
  completed_one: (subject) => `${subject} erledigt`,
  reopened_one: (subject) => `${subject} wieder offen`,
  completed_many: (n) => (n === 1 ? '1 Aktivität erledigt' : `${n} Aktivitäten erledigt`),
  empty: {
    today: 'Heute ist nichts fällig. Notieren Sie, was Sie als Nächstes tun möchten.',
    overdue: 'Nichts ist überfällig.',
    upcoming: 'Nach heute ist nichts geplant. Planen Sie einen Anruf, ein Treffen oder eine Aufgabe.',
    done: 'Noch ist nichts erledigt. Erledigte Aktivitäten finden Sie hier.',
    all: 'Noch gibt es keine Aktivitäten. Notieren Sie einen Anruf, ein Treffen oder eine Aufgabe.',
  },
  keys: { complete: 'Erledigen oder wieder öffnen' },
}
