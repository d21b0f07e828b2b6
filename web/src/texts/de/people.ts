import type { people as english } from '../en/people.ts'

const seconds = (n: number) => (n === 1 ? '1 Sekunde' : `${n} Sekunden`)
const minutes = (n: number) => (n === 1 ? '1 Minute' : `${n} Minuten`)
const wait = (s: number) => (s < 90 ? seconds(s) : minutes(Math.ceil(s / 60)))

export const people: typeof english = {
  name: 'Ihr Name',
  password: 'Passwort',
  new_password: 'Neues Passwort',
  show_password: 'Passwort zeigen',
  password_rule: 'Mindestens 10 Zeichen. Ein paar Wörter hintereinander lassen sich leicht merken.',
  nothing_found: 'Nichts gefunden.',
  wait: (s) => `Zu viele falsche Versuche. Versuchen Sie es in ${wait(s)} wieder.`,
  roles: { owner: 'Inhaber', admin: 'Admin', member: 'Mitglied', read_only: 'Nur lesen' },
  sign_in: 'Anmelden',
  session_ended: 'Ihre Sitzung ist beendet. Melden Sie sich wieder an.',
  wrong: 'Die E-Mail oder das Passwort ist falsch.',
  forgotten: 'Passwort vergessen? Wer diesen Dienst betreibt, kann einen Link für ein neues erstellen.',
  setup_needed: 'Noch niemand hat ein Konto',
  setup_needed_text:
    'Das Terminal, in dem der Dienst gestartet wurde, zeigt einen Link für das erste. Öffnen Sie diesen Link.',
  setup_title: 'Konto anlegen',
  setup_text:
    'Sie sind hier die erste Person. Der Arbeitsbereich gehört Ihnen, und Sie können andere einladen.',
  setup_action: 'Konto und Arbeitsbereich anlegen',
  setup_over: 'Dieser Link gilt nicht mehr. Starten Sie den Dienst neu, dann zeigt er einen neuen.',
  setup_done: 'Dieser Dienst ist eingerichtet',
  setup_done_text: 'Es gibt schon ein Konto. Melden Sie sich an, oder lassen Sie sich einladen.',
  workspace_name: 'Name des Arbeitsbereichs',
  workspace_name_text: 'Meist Ihre Firma oder Ihr Team.',
  link_over: 'Dieser Link funktioniert nicht',
  link_incomplete:
    'Er ist unvollständig oder wurde schon geöffnet. Öffnen Sie ihn noch einmal so, wie Sie ihn bekommen haben.',
  invitation_over: 'Er wurde verwendet oder zurückgenommen, oder er ist zu alt. Bitten Sie um einen neuen.',
  member_already: 'Sie sind schon Mitglied dieses Arbeitsbereichs. Melden Sie sich an.',
  invitation_title: (workspace) => `${workspace} beitreten`,
  invitation_text: (role, has_account) =>
    has_account
      ? `Sie sind eingeladen als: ${role}. Diese E-Mail hat ein Konto; nehmen Sie mit dessen Passwort an.`
      : `Sie sind eingeladen als: ${role}. Legen Sie Ihr Konto an, um anzunehmen.`,
  own_account: 'Ich habe hier noch kein Konto',
  use_account: 'Mein bestehendes Konto verwenden',
  invitation_action: 'Einladung annehmen',
  reset_title: 'Neues Passwort wählen',
  reset_text: 'Sie werden damit angemeldet und überall sonst abgemeldet.',
  reset_action: 'Passwort speichern und anmelden',
  reset_over: 'Dieser Link wurde verwendet, oder er ist zu alt. Bitten Sie um einen neuen.',
}
