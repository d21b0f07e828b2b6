import type { Facts } from '../../api/problem.ts'

/** The same in German. */
export const conflicts = {
  appointment_answered: () => 'Dieser Termin ist keine Anfrage mehr.',
  appointments_overlap: () =>
    'Diese Zeit ist belegt: Ein anderer Termin der Buchungsseite überschneidet sich damit.',
  backfill_running: () =>
    'An diesen Webhook werden gerade Einträge gesendet. Halten Sie das an, oder warten Sie.',
  backfill_stopping: () =>
    'Das letzte Senden wird gerade angehalten. Versuchen Sie es in einer Sekunde erneut.',
  changed_since: () => 'Das wurde inzwischen geändert.',
  delivery_unfinished: () =>
    'Diese Zustellung läuft noch. Nur zugestellte und gescheiterte lassen sich erneut senden.',
  field_being_checked: () => 'Die Werte dieses Felds werden gerade geprüft. Versuchen Sie es später erneut.',
  field_check_timeout: () => 'Die Prüfung der Werte hat zu lange gedauert. Versuchen Sie es erneut.',
  field_removed: () => 'Jemand hat dieses Feld gelöscht, während seine Werte geprüft wurden.',
  import_dry_run: () => 'Dieser Import war nur eine Probe: Es gibt nichts zurückzunehmen.',
  import_ended: () => 'Dieser Import ist beendet. Zurücknehmen stellt wieder her, was er geändert hat.',
  import_running: () => 'Dieser Import läuft noch. Brechen Sie ihn zuerst ab.',
  key_of_another_body: () =>
    'Etwas wurde zweimal mit verschiedenem Inhalt gesendet. Laden Sie die Seite neu.',
  last_owner: () =>
    'Ein Arbeitsbereich behält mindestens einen Inhaber. Machen Sie zuerst jemand anderen dazu.',
  member_already: () => 'Sie sind schon Mitglied dieses Arbeitsbereichs.',
  merge_erased: () =>
    'Ein Eintrag wurde endgültig gelöscht. Das Zusammenführen lässt sich nicht mehr zurücknehmen.',
  merge_running: () => 'Dieser Eintrag wird gerade zusammengeführt. Versuchen Sie es später erneut.',
  merge_taken_back: () => 'Das Zusammenführen wurde zurückgenommen. Nichts wurde geändert.',
  merge_too_old: ({ days }: Facts) =>
    `Das ist mehr als ${days} Tage her und lässt sich nicht mehr zurücknehmen.`,
  merged_again: () => 'Der verbliebene Eintrag wurde erneut zusammengeführt. Nehmen Sie zuerst das zurück.',
  merged_record: () =>
    'Dieser Eintrag wurde zusammengeführt. Nehmen Sie stattdessen das Zusammenführen zurück.',
  merged_record_deleted: () =>
    'Jemand hat den Eintrag, der bleiben soll, während des Zusammenführens gelöscht.',
  only_owner: ({ workspaces }: Facts) =>
    `${workspaces} gehört Ihnen allein. Machen Sie dort zuerst jemand anderen zum Inhaber.`,
  other_definition: () => 'Dieses Feld ist schon anders festgelegt. Die bisherige Festlegung bleibt.',
  request_in_flight: () => 'Dieselbe Anfrage läuft noch. Versuchen Sie es gleich erneut.',
  request_lapsed: () => 'Diese Anfrage ist verfallen. Legen Sie stattdessen einen Termin an.',
  set_up_already: () => 'Es gibt schon ein Konto. Melden Sie sich an, oder lassen Sie sich einladen.',
  slug_taken: () => 'Eine andere Buchungsseite hat diese Adresse.',
  too_many_booking_pages: ({ most }: Facts) =>
    `Ein Arbeitsbereich hat höchstens ${most} Buchungsseiten. Löschen Sie zuerst eine.`,
  too_many_changes: ({ most }: Facts) =>
    `Höchstens ${most} Änderungen lassen sich auf einmal zurücknehmen. Gehen Sie einzeln vor.`,
  too_many_fields: ({ most }: Facts) =>
    `Höchstens ${most} eigene Felder sind hier möglich. Löschen Sie zuerst eines.`,
  too_many_imports: ({ most }: Facts) =>
    `Höchstens ${most} Importe können warten. Warten Sie auf ein Ende, oder brechen Sie einen ab.`,
  too_many_keys: ({ most }: Facts) =>
    `Ein Arbeitsbereich hat höchstens ${most} API-Schlüssel. Widerrufen Sie zuerst einen.`,
  too_many_notes: ({ most }: Facts) =>
    `Ein Datensatz hat höchstens ${most} Notizen. Löschen Sie zuerst eine.`,
  too_many_pending: ({ most }: Facts) =>
    `Mehr als ${most} Zustellungen warten. Ändern Sie die Adresse, wenn es weniger sind.`,
  too_many_views: ({ most }: Facts) =>
    `Ein Arbeitsbereich hat höchstens ${most} gemeinsame Ansichten, eine Person höchstens ${most} private. Löschen Sie zuerst eine.`,
  too_many_webhooks: ({ most }: Facts) =>
    `Ein Arbeitsbereich hat höchstens ${most} Webhooks. Löschen Sie zuerst einen.`,
  too_many_workspaces: ({ most }: Facts) =>
    `Jemand besitzt höchstens ${most} Arbeitsbereiche. Nehmen Sie einen davon.`,
  unique_value_taken: ({ field }: Facts) =>
    `Ein anderer Eintrag hat denselben Wert: ${field}. Ändern oder löschen Sie ihn zuerst.`,
  values_break_definition: ({ count }: Facts) =>
    count === 1
      ? '1 vorhandener Wert passt nicht. Ändern Sie ihn zuerst.'
      : `${count} vorhandene Werte passen nicht. Ändern Sie sie zuerst.`,
  webhook_deleted: () => 'Der Webhook dieser Zustellung wurde gelöscht.',
  webhook_paused: () => 'Der Webhook ist angehalten. Setzen Sie ihn zuerst fort.',
} satisfies Record<string, (facts: Facts) => string>
