import type { definitions as english } from '../en/definitions.ts'

export const definitions: typeof english = {
  create: 'Feld anlegen',
  edit: (label) => `Feld ${label} bearbeiten`,
  save: 'Feld speichern',
  kind: 'Felder von',
  none: 'Noch keine Felder. Ein eigenes Feld hat einen Typ, und jeder Datensatz dieser Art bietet es an.',
  key: 'Schlüssel',
  key_text: 'Der Name in der API, etwa customer_no. Er lässt sich nicht ändern.',
  label: 'Bezeichnung',
  label_text: 'Der sichtbare Name. Bleibt sie leer, gilt der Schlüssel.',
  options: 'Auswahl',
  options_text: 'Ein Eintrag pro Zeile.',
  required: 'Pflichtfeld',
  required_text: 'Neue Datensätze brauchen einen Wert. Bei alten darf er fehlen.',
  unique: 'Eindeutig',
  unique_text: 'Kein Wert kommt zweimal vor.',
  types: {
    text: 'Text',
    number: 'Zahl',
    boolean: 'Ja oder nein',
    date: 'Datum',
    select: 'Auswahl',
    url: 'Webadresse',
    email: 'E-Mail',
  },
  broken: (n, one) =>
    one
      ? '1 vorhandener Wert passt nicht dazu. Ändern Sie ihn zuerst, oder lassen Sie die Regel nur für neue Werte gelten.'
      : `${n} vorhandene Werte passen nicht dazu. Ändern Sie sie zuerst, oder lassen Sie die Regel nur für neue Werte gelten.`,
  force: 'Nur für neue Werte',
  force_text: 'Vorhandene Werte bleiben, bis sie sich ändern.',
  move_up: (label) => `${label} nach oben`,
  move_down: (label) => `${label} nach unten`,
  moved: (label, place, count) => `${label} ist jetzt ${place} von ${count}`,
  delete: (label) => `Feld ${label} löschen`,
  deleted: (label) => `Feld ${label} gelöscht. Die Werte bleiben in den Datensätzen.`,
}
