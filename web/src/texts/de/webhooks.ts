import type { webhooks as english } from '../en/webhooks.ts'

export const webhooks: typeof english = {
  count: (n, all) => (all ? 'Alle Ereignisse' : n === 1 ? '1 Ereignis' : `${n} Ereignisse`),
  later_too: '„Alle“ schließt Ereignisse ein, die spätere Versionen bringen.',

  conditions: 'Bedingungen',
  conditions_text: 'Der Webhook erhält ein Ereignis nur, wenn alle zutreffen.',
  add_condition: 'Bedingung hinzufügen',
  nth_condition: (n) => `Bedingung ${n}`,
  remove_condition: (n) => `Bedingung ${n} entfernen`,
  field: 'Feld',
  operator: 'Operator',
  value: 'Wert',
  values: 'Werte',
  values_text: 'Enter fügt einen Wert hinzu',
  operators: {
    eq: 'ist',
    ne: 'ist nicht',
    gt: 'ist größer als',
    gte: 'ist mindestens',
    lt: 'ist kleiner als',
    lte: 'ist höchstens',
    in: 'ist einer von',
    not_in: 'ist keiner von',
    contains: 'enthält',
    exists: 'ist gesetzt',
    not_exists: 'ist nicht gesetzt',
  },
  nothing: 'leer',

  headers: 'Eigene Kopfzeilen',
  headers_text:
    'Gehen mit jeder Zustellung und jedem Ping. Die Werte sind verschlüsselt und werden nie wieder gezeigt.',
  add_header: 'Kopfzeile hinzufügen',
  header_name: (n) => `Name der Kopfzeile ${n}`,
  header_value: (n) => `Wert der Kopfzeile ${n}`,
  remove_header: (n) => `Kopfzeile ${n} entfernen`,
  kept: '••• (gespeichert)',

  advanced: 'Kopfzeilen, Wiederholungen, Grenzen, Format',
  format: 'Format',
  formats: { envelope: 'Ereignis (JSON)', slack: 'Nachricht für Slack', teams: 'Nachricht für Teams' },
  format_texts: {
    envelope: 'Das ganze Ereignis, für ein eigenes Programm.',
    slack: 'Ein Satz mit Link, für einen eingehenden Webhook von Slack.',
    teams: 'Eine Adaptive Card, für einen Teams-Workflow, der Webhook-Anfragen postet.',
  },
  retries: 'Wiederholungen',
  retry_modes: { installation: 'Wie die Installation', none: 'Keine Wiederholungen', own: 'Eigene Abstände' },
  delays: 'Abstände in Minuten',
  delays_text: 'Bis zu 20, jeweils nach dem Ende des vorigen Versuchs. Beispiel: 1, 5, 30.',
  no_delays: 'Schreiben Sie Minuten mit Komma und Leerzeichen dazwischen, etwa 1, 5, 30.',
  timeout: 'Zeitlimit in Sekunden',
  timeout_text: '1 bis 30. Leer: wie die Installation.',
  ordered: 'Je Eintrag der Reihe nach',
  ordered_text:
    'Je Eintrag ist höchstens eine Zustellung unterwegs. Eine fehlgeschlagene hält nur ihren Eintrag auf.',
  rate: 'Versuche pro Sekunde',
  rate_text: 'Höchstens 1 bis 1.000. Leer: keine Grenze.',
  as_installation: 'Wie die Installation',
  no_limit: 'Keine Grenze',

  what_to_send: 'Ereignis zum Senden',
  ping: 'ping: prüft nur die Verbindung',
  example: 'Beispiel, das gesendet wird',
  test_text: 'Sendet ein Beispiel, auch im angehaltenen Zustand, und wartet auf die Antwort.',
  send_test: 'Test senden',

  no_events: 'Diese Änderung hat keine Ereignisse, oder sie sind nicht mehr gespeichert.',
  explain_title: 'Wer dieses Ereignis erhielt, und warum',
  explain_text: 'Nach dem Stand jedes Webhooks, als das Ereignis geschah.',
  no_webhooks: 'Es gibt keine Webhooks.',
  not_kept:
    'Dieses Ereignis lässt sich nicht erklären: Es ist ein Test oder ein Ping oder wird nicht mehr aufbewahrt.',
  verdicts: {
    delivered: 'Hat es erhalten.',
    pending: 'Die Zustellung läuft oder wartet auf den nächsten Versuch.',
    failed: 'Die Zustellung ist fehlgeschlagen.',
    cancelled: 'Die Zustellung gehörte zu einem Nachliefern, das gestoppt wurde.',
    paused: 'Angehalten: Die Zustellung wartet, bis der Webhook fortgesetzt wird.',
    not_subscribed: (event) => `Hatte ${event} nicht abonniert.`,
    condition_false: (condition, field, seen) =>
      `Bedingung „${condition}“ traf nicht zu: ${field} war ${seen}.`,
    created_later: 'Wurde nach dem Ereignis angelegt.',
  },
  verdict_names: {
    delivered: 'Zugestellt',
    pending: 'Ausstehend',
    failed: 'Fehlgeschlagen',
    cancelled: 'Abgebrochen',
    paused: 'Angehalten',
    not_subscribed: 'Nicht gesendet',
    condition_false: 'Nicht gesendet',
    created_later: 'Nicht gesendet',
  },

  backfill: 'Nachliefern',
  backfill_text:
    'Sendet diesem Webhook den jetzigen Stand von Einträgen. Bedingungen gelten, die Liste der Ereignisse nicht.',
  kinds: 'Arten von Einträgen',
  changed_since: 'Geändert seit',
  changed_since_text: 'Freiwillig: nur Einträge, die sich ab dann geändert haben.',
  at_most: (n, text, exact) =>
    `${exact ? '' : 'Höchstens '}${text} ${n === 1 ? 'Eintrag' : 'Einträge'} zu prüfen.`,
  start_backfill: 'Nachliefern starten',
  stop_backfill: 'Nachliefern stoppen',
  stop_text: 'Wartende Zustellungen werden abgebrochen. Was gesendet ist, bleibt gesendet.',
  progress: 'Fortschritt des Nachlieferns',
  progress_text: (sent, total) => `${sent} von ${total} Einträgen eingereiht`,
  backfill_paused: 'Es wartet, bis der Webhook fortgesetzt wird.',
  backfill_ended: {
    succeeded: (sent, total, at) =>
      `Das letzte Nachliefern endete ${at}: ${sent} von ${total} Einträgen eingereiht.`,
    cancelled: (sent, total, at) =>
      `Das letzte Nachliefern wurde gestoppt ${at}: ${sent} von ${total} Einträgen eingereiht.`,
  },

  field_problems: {
    unknown_field: 'Die Ereignisse dieses Webhooks haben kein solches Feld.',
    invalid_value: 'Dieser Wert passt nicht zum Operator.',
    reserved: 'Diese Kopfzeile setzt der Dienst. Wählen Sie einen anderen Namen.',
    other_origin:
      'Die neue Adresse erhielte gespeicherte Werte. Geben Sie sie neu ein, oder entfernen Sie diese Kopfzeilen.',
    duplicate: 'Dieser Name kommt zweimal vor.',
  },
}
