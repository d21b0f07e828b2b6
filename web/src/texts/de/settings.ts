import type { settings as english } from '../en/settings.ts'

export const settings: typeof english = {
  groups: {
    yours: 'Persönlich',
    workspace_group: 'Arbeitsbereich',
    developers: 'Für Entwickler',
    elsewhere: 'Weiteres',
  },
  pages: {
    profile: { label: 'Profil', text: 'Name, E-Mail, Passwort, Sprache, Sitzungen' },
    workspace: { label: 'Allgemein', text: 'Name und Währung' },
    imports: {
      label: 'Importe',
      text: 'Dateien, deren Zeilen zu Datensätzen werden; Ergebnis und Rückgängig',
    },
    members: { label: 'Mitglieder', text: 'Wer hier als was arbeitet; Einladungen' },
    fields: { label: 'Felder', text: 'Eigene Felder für jede Art von Datensatz' },
    keys: { label: 'API-Schlüssel', text: 'Zugang für Programme' },
    webhooks: { label: 'Webhooks', text: 'Anderen Diensten melden, was geschieht' },
    deliveries: { label: 'Zustellprotokoll', text: 'Jede gesendete Anfrage und ihre Antwort' },
    booking_pages: { label: 'Buchungsseiten', text: 'Wo Besucher Termine buchen' },
    audit_log: { label: 'Protokoll', text: 'Wer wann was geändert hat' },
    trash: { label: 'Papierkorb', text: 'Gelöschtes zum Wiederherstellen' },
    docs: { label: 'API-Dokumentation', text: 'Jeder Aufruf mit Beispielen (englisch)' },
  },
  last_used: 'Zuletzt verwendet',
  kept: 'Ich habe es gesichert',
  now: 'jetzt',
  when_resumed: 'beim Fortsetzen',
  no_answer_in: (seconds) => `Keine Antwort in ${seconds} Sek.`,
  failure: (cause, n, text) => (n > 1 ? `${cause} nach ${text} Versuchen.` : `${cause}.`),
  in_time: (hours, minutes, seconds) =>
    hours
      ? `in ${hours} Std. ${minutes} Min.`
      : minutes
        ? `in ${minutes} Min. ${seconds} Sek.`
        : `in ${seconds} Sek.`,
  ms: (n) => `${n} ms`,

  new_workspace_text:
    'Ein Arbeitsbereich hat eigene Einträge, Mitglieder, Schlüssel und Webhooks. Er wird Ihnen gehören.',
  create_workspace: 'Arbeitsbereich anlegen',
  currency_text: 'Für die Werte aller Deals. Eine Änderung rechnet nichts um.',

  change_email: 'E-Mail ändern',
  new_email: 'Neue E-Mail',
  change_password: 'Passwort ändern',
  current_password: 'Aktuelles Passwort',
  password_changed: 'Passwort geändert; alle anderen Sitzungen sind beendet',
  sessions: 'Wo Sie angemeldet sind',
  this_one: 'Diese hier',
  unknown_device: 'Unbekanntes Gerät',
  end_session: 'Beenden',
  end_session_of: (device) => `Sitzung beenden: ${device}`,
  end_others: 'Alle anderen beenden',
  delete_account: 'Konto löschen',
  delete_account_text:
    'Entfernt Sie aus allen Arbeitsbereichen, mit Ihrem Namen, Ihrer E-Mail und Ihren Sitzungen.',
  delete_account_title: 'Ihr Konto löschen?',
  delete_account_warning:
    'Sie werden sofort überall abgemeldet. Datensätze und API-Schlüssel, die Sie erstellt haben, bleiben in ihren Arbeitsbereichen. Das lässt sich nicht rückgängig machen.',
  only_owner: 'Ein Arbeitsbereich gehört Ihnen allein. Machen Sie dort zuerst jemand anderen zum Inhaber.',

  you: 'Sie',
  member_since: 'Seit',
  role_of: (name) => `Rolle von ${name}`,
  role_changed: (name, role) => `${name} ist jetzt: ${role}`,
  change_role: 'Rolle ändern',
  change_role_title: (name, role) => `Rolle ändern: ${name} als ${role}?`,
  role_texts: {
    owner: 'Darf alles und bestimmt, wer Inhaber ist.',
    admin: 'Darf alles, außer Inhaber zu ändern.',
    member: 'Arbeitet mit allen Einträgen; keine Mitglieder, Schlüssel und Webhooks.',
    read_only: 'Sieht alle Einträge und ändert nichts.',
  },
  remove_of: (name) => `${name} entfernen`,
  remove_title: (name) => `${name} aus diesem Arbeitsbereich entfernen?`,
  remove_text:
    'Die Sitzungen hier enden sofort. Was die Person angelegt hat, bleibt. Zurück geht es nur mit einer neuen Einladung.',
  hand_theirs_to: 'Wer die Datensätze übernimmt',
  hand_yours_to: 'Wer Ihre Datensätze übernimmt',
  hand_text: 'Kontakte, Firmen, Deals, Aktivitäten und Termine, für die diese Person zuständig ist.',
  keep_theirs: (name) => `Sie bleiben bei ${name}`,
  keep_yours: 'Sie bleiben bei mir',
  handed_over: (n, count, from, to) =>
    n === 0
      ? `${from} hatte keine Datensätze`
      : n > 50
        ? `${count} Datensätze von ${from}: zuständig wird ${to ?? 'niemand'}, für die letzten in Kürze`
        : n === 1
          ? `1 Datensatz von ${from}: zuständig ist jetzt ${to ?? 'niemand'}`
          : `${count} Datensätze von ${from}: zuständig ist jetzt ${to ?? 'niemand'}`,
  leave: 'Verlassen',
  leave_title: 'Diesen Arbeitsbereich verlassen?',
  leave_text: 'Sie werden hier abgemeldet und brauchen eine Einladung, um zurückzukommen.',
  own_role_title: 'Ihre eigene Rolle ändern?',
  own_role_text: (role: string) =>
    `Sie sind dann: ${role}. Selbst können Sie das nicht zurücknehmen, nur jemand anderes kann es.`,
  last_owner: 'Ein Arbeitsbereich behält mindestens einen Inhaber. Machen Sie zuerst jemand anderen dazu.',
  owners_only:
    'Nur Inhaber ernennen, ändern und entfernen Inhaber, und niemand vergibt mehr, als die eigene Rolle erlaubt.',
  invite: 'Einladen',
  create_invitation: 'Einladung anlegen',
  invitation_title: 'Link der Einladung',
  invitation_text: (email) =>
    `Senden Sie diesen Link an ${email}. Er wird nur jetzt gezeigt; dieser Dienst verschickt keine E-Mails.`,
  copy_link: 'Link kopieren',
  open_invitations: 'Offene Einladungen',
  no_invitations: 'Zurzeit ist niemand eingeladen.',
  valid_until: (day) => `gültig bis ${day}`,
  revoke_invitation: (email) => `Einladung von ${email} widerrufen`,
  revoke_invitation_text: 'Der Link gilt sofort nicht mehr. Zurück geht es nur mit einer neuen Einladung.',

  resources: {
    views: 'Gespeicherte Ansichten',
    workspace: 'Arbeitsbereich',
    events: 'Ereignisse',
    reports: 'Berichte',
  },
  verbs: { read: 'Lesen', write: 'Schreiben' },
  only_read: (name) => `${name} (lesen)`,
  only_write: (name) => `${name} (schreiben)`,
  resource: 'Bereich',
  scopes: 'Darf',
  everything: 'Alles',
  some_scopes: 'Nur, was ich auswähle',
  terms: { never: 'Nie', 30: 'In 30 Tagen', 90: 'In 90 Tagen', 365: 'In einem Jahr', day: 'An einem Tag' },
  last_day: 'Letzter Tag',
  key_status: { active: 'Aktiv', revoked: 'Widerrufen', expired: 'Abgelaufen' },
  create_key: 'API-Schlüssel anlegen',
  key_name_text: 'Was ihn verwendet, etwa: Formular der Website.',
  no_keys:
    'Noch keine API-Schlüssel. Mit einem Schlüssel liest und schreibt ein Programm in diesem Arbeitsbereich.',
  key_title: 'Ihr neuer API-Schlüssel',
  key_text: 'Er wird nur dieses eine Mal gezeigt. Bewahren Sie ihn dort auf, wo Geheimnisse liegen.',
  copy_key: 'Schlüssel kopieren',
  try_key: 'Zum Ausprobieren im Terminal:',
  copy_curl: 'Als curl kopieren',
  revoke: 'Widerrufen',
  revoke_key: (name) => `${name} widerrufen`,
  revoke_title: (name) => `Schlüssel ${name} widerrufen?`,
  revoke_text:
    'Programme damit werden binnen einer Sekunde abgewiesen. Damit angelegte Schlüssel und Einladungen enden auch. Das lässt sich nicht rückgängig machen.',
  made_by: 'Angelegt von',
  keys_of_person: (n, written) =>
    n === 1
      ? 'Ein API-Schlüssel, den diese Person angelegt hat, gilt noch.'
      : `${written} API-Schlüssel, die diese Person angelegt hat, gelten noch.`,
  keys_of_yours: (n, written) =>
    n === 1
      ? 'Ein API-Schlüssel, den Sie angelegt haben, gilt noch.'
      : `${written} API-Schlüssel, die Sie angelegt haben, gelten noch.`,
  revoke_their_keys: 'Diese API-Schlüssel auch widerrufen',
  revoke_my_keys: 'Meine API-Schlüssel auch widerrufen',

  webhook: 'Webhook',
  deleted_webhook: (end: string) => `…${end} (gelöscht)`,
  webhook_status: { active: 'Aktiv', failed: 'Fehlerhaft', paused: 'Angehalten' },
  no_webhooks: 'Noch keine Webhooks. Ein Webhook meldet einem anderen Dienst sofort, was hier geschieht.',
  url: 'URL',
  url_text: 'Wohin die Ereignisse per POST gesendet werden.',
  webhook_name_text: 'Freiwillig. Ohne Namen wird der Host der URL gezeigt.',
  all_events: 'Alle Ereignisse',
  every_event: 'Alle',
  all_of: (many) => `Alle: ${many}`,
  own_secret: 'Eigenes Geheimnis verwenden',
  secret: 'Geheimnis',
  own_secret_text: '16 bis 255 Zeichen; signiert jede Anfrage. Bleibt es leer, wird eines erzeugt.',
  secret_title: 'Geheimnis des Webhooks',
  secret_text: 'Es wird nur dieses eine Mal gezeigt. Der Empfänger prüft damit die Signaturen.',
  copy_secret: 'Geheimnis kopieren',
  pause: 'Anhalten',
  paused: 'Angehalten: was geschieht, wird aufgehoben',
  resume: 'Fortsetzen',
  resume_first: 'Der Webhook ist angehalten. Setzen Sie ihn zuerst fort.',
  resumed: 'Fortgesetzt: Aufgehobenes wird gesendet',
  failed_title: 'Zustellungen schlagen fehl',
  failed_text:
    'Neues wird weiter gesendet; die erste erfolgreiche Zustellung macht den Webhook wieder aktiv.',
  paused_title: 'Dieser Webhook ist angehalten',
  paused_text: 'Ereignisse werden aufgehoben und beim Fortsetzen gesendet.',
  rotating_title: 'Das Geheimnis wird gewechselt',
  rotating_text: (until) => `Bis ${until} wird mit dem alten und dem neuen Geheimnis signiert.`,
  rotate: 'Geheimnis wechseln',
  rotate_text:
    'Erzeugt ein neues Geheimnis. Eine Zeit lang signieren beide, damit der Empfänger lückenlos umstellen kann.',
  overlap: 'Stunden, in denen beide signieren',
  overlap_text: '0 bis 168. Bei 0 endet das alte sofort.',
  test: 'Test',
  test_text: 'Sendet einmal das Ereignis ping, auch im angehaltenen Zustand, und wartet auf die Antwort.',
  send_ping: 'Ping senden',
  look_at_it: 'Ansehen',
  latest_deliveries: 'Neueste Zustellungen',
  no_deliveries_yet: 'Noch nichts gesendet. Senden Sie einen Ping oder ändern Sie einen passenden Eintrag.',
  delete_webhook: 'Webhook löschen',
  delete_webhook_text:
    'Ausstehendes wird abgebrochen, und nichts wird mehr gesendet. Er lässt sich nicht wiederherstellen. Seine Zustellungen bleiben im Protokoll.',

  resend_failed: 'Fehlgeschlagene erneut senden',
  resend_failed_text: 'Sendet jede fehlgeschlagene Zustellung des Webhooks noch einmal.',
  since: 'Seit',
  since_text: 'Freiwillig: nur, was ab dann entstanden ist.',
  resent_many: (n, text) =>
    n === 0
      ? 'Nichts war fehlgeschlagen'
      : n === 1
        ? '1 Zustellung wird erneut gesendet'
        : `${text} Zustellungen werden erneut gesendet`,

  delivery: 'Zustellung',
  delivery_status: {
    pending: 'Ausstehend',
    succeeded: 'Zugestellt',
    failed: 'Fehlgeschlagen',
    cancelled: 'Abgebrochen',
  },
  no_deliveries:
    'Noch nichts gesendet. Sobald es einen Webhook gibt, erscheinen Zustellungen hier in dem Moment, in dem sie geschehen.',
  time: 'Zeit',
  event: 'Ereignis',
  attempts: 'Versuche',
  duration: 'Dauer',
  next_attempt: 'Nächster Versuch',
  fresh: (shown, more) => `${shown}${more ? '+' : ''} neu`,
  older: 'Ältere Zustellungen zeigen',
  happened: 'Geschehen',
  record: 'Eintrag',
  open_record: 'Öffnen',
  id: 'Nummer',
  copy_id: 'Nummer kopieren',
  attempt: (n) => `Versuch ${n}`,
  no_attempt_yet: 'Der erste Versuch steht unmittelbar bevor.',
  resend: 'Erneut senden',
  resent: 'Erneut gesendet',
  not_resent: 'Das ist schon unterwegs, oder der Webhook ist angehalten oder gelöscht.',
  request: 'Anfrage',
  response: 'Antwort',
  no_response: 'Es kam keine Antwort.',
  headers: (n) => (n === 1 ? '1 Kopfzeile' : `${n} Kopfzeilen`),
  body: 'Inhalt',
  body_view: 'Darstellung des Inhalts',
  pretty: 'JSON',
  raw: 'Roh',
  empty_body: 'Leerer Inhalt.',
  copy_body: 'Inhalt kopieren',
  errors: {
    timeout: {
      name: 'Keine Antwort in der Zeit',
      hint: 'Der Empfänger hat 5 Sekunden für die Verbindung und 10 insgesamt. Antworten Sie sofort und arbeiten Sie danach.',
    },
    dns_error: {
      name: 'Name nicht gefunden',
      hint: 'Der Host der URL hat keine Adresse. Prüfen Sie Schreibweise und DNS.',
    },
    connection_refused: {
      name: 'Verbindung abgelehnt',
      hint: 'An dieser Adresse und diesem Port lauscht nichts. Läuft der Empfänger?',
    },
    connection_reset: {
      name: 'Verbindung abgebrochen',
      hint: 'Der Empfänger oder etwas davor hat die Verbindung geschlossen, bevor eine Antwort kam.',
    },
    tls_error: {
      name: 'TLS fehlgeschlagen',
      hint: 'Das Zertifikat ist abgelaufen, gilt für einen anderen Host oder ist nicht vertrauenswürdig.',
    },
    protocol_error: {
      name: 'Kein gültiges HTTP',
      hint: 'Was zurückkam, ist keine HTTP-Antwort. Stimmt der Port?',
    },
    address_blocked: {
      name: 'Adresse nicht erlaubt',
      hint: 'Der Host führt in ein privates Netz. Wer diesen Dienst betreibt, kann es mit WEBHOOK_ALLOWED_NETWORKS erlauben.',
    },
    redirect_not_followed: {
      name: 'Weiterleitung nicht befolgt',
      hint: 'Weiterleitungen gelten als Fehlschlag. Tragen Sie als URL ein, wohin sie führt.',
    },
    http_error: {
      name: 'Der Empfänger hat abgelehnt',
      hint: 'Nur ein Status von 200 bis 299 ist ein Erfolg. Vielleicht sagt die Antwort, warum.',
    },
    interrupted: {
      name: 'Unterbrochen',
      hint: 'Der Dienst wurde während dieses Versuchs beendet. Er zählt nicht und wurde wiederholt.',
    },
  },
}
