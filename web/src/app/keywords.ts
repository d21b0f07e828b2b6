// In English and in German, whatever the language of the app: people remember the words of other programs.
const of_commands: Record<string, string> = {
  'go-/': 'home start dashboard today overview startseite übersicht heute',
  'go-/contacts':
    'contacts people persons customers leads addresses kontakte personen menschen kunden adressen',
  'go-/companies': 'companies organisations organizations accounts firms unternehmen firmen organisationen',
  'go-/deals': 'deals pipeline board sales opportunities forecast verkauf verkäufe chancen prognose',
  'go-/activities': 'activities tasks todo calls meetings aktivitäten aufgaben anrufe',
  'go-/calendar': 'calendar appointments meetings events schedule week kalender termine woche',
  'go-/reports':
    'reports charts statistics analytics funnel conversion forecast activity berichte diagramme statistik auswertung trichter prognose',
  'go-trash': 'trash deleted bin restore recycle papierkorb gelöscht gelöschte wiederherstellen',
  'go-notifications':
    'notifications inbox bell unread mentions assigned mitteilungen benachrichtigungen glocke ungelesen',
  'go-audit_log': 'audit log history changes protokoll verlauf änderungen',
  'go-settings':
    'settings preferences options configuration administration einstellungen optionen verwaltung',
  'go-profile':
    'profile account password email e-mail language sessions timezone konto profil passwort kennwort sprache sitzungen zeitzone',
  'go-workspace': 'general workspace currency allgemein arbeitsbereich währung',
  'go-members':
    'members team users people roles invite invitations mitglieder benutzer nutzer rollen einladen',
  'go-imports':
    'imports import upload csv excel spreadsheet file importe importieren hochladen datei tabelle',
  'go-fields': 'fields custom properties columns felder eigenschaften eigene',
  'go-keys': 'api keys token tokens access secret developers schlüssel zugang entwickler',
  'go-webhooks': 'webhooks hooks endpoints integrations integrationen',
  'go-deliveries':
    'delivery log deliveries webhook attempts failed requests errors zustellprotokoll zustellungen protokoll versuche fehler',
  'go-booking_pages': 'booking pages scheduling links appointments buchungsseiten buchung terminbuchung',
  'go-docs': 'api documentation docs reference help dokumentation hilfe',
  'create-keys': 'api key token access schlüssel zugang',
  'create-webhooks': 'webhook hook endpoint',
  'appearance-light': 'light mode theme day bright hell heller modus tag darstellung',
  'appearance-dark': 'dark mode theme night dunkel dunkler modus nacht darstellung',
  'appearance-auto': 'system mode theme automatic modus automatisch darstellung',
  'sign-out': 'sign out log logout exit abmelden ausloggen',
  sheet: 'keyboard shortcuts keys hotkeys help tastatur tasten tastenkürzel hilfe',
  undo: 'undo revert back rückgängig widerrufen',
}
const of_verbs: Record<string, string> = {
  create: 'create new add neu neue neuer anlegen erstellen hinzufügen',
  log: 'log record call meeting e-mail note anruf telefonat treffen gespräch protokollieren erfassen notieren',
  export: 'export download csv excel herunterladen exportieren',
  import: 'import upload csv excel hochladen importieren',
  duplicates: 'duplicates doubles merge clean doppelte dubletten zusammenführen',
  merge: 'merge combine join zusammenführen vereinen',
  delete: 'delete remove trash löschen entfernen',
}

/** Further words by which the palette finds the command of an id. */
export function keywordsOf(id: string): string {
  const [verb = ''] = id.split('-')
  return `${of_commands[id] ?? ''} ${of_verbs[verb] ?? ''}`
}
