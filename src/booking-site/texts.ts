import { type Html, html } from './html.ts'

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
const lengthIn =
  (hour: string, hours: string, minutes: string) =>
  (length: number): string =>
    [
      length >= 60 && count(Math.floor(length / 60), hour, hours),
      length % 60 > 0 && `${length % 60} ${minutes}`,
    ]
      .filter(Boolean)
      .join(' ')

const en = {
  length: lengthIn('hour', 'hours', 'minutes'),
  weekdays: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  all_times: 'All free times',
  none_free: 'No time is free at the moment. Please look in again another day.',
  none_on_day: 'No time is free on this day.',
  none_in: (month: string) => `No free times in ${month}`,
  show_next: 'Show the next free times',
  look_further: 'Look further ahead',
  previous_month: 'Previous month',
  next_month: 'Next month',
  times: (n: number) => count(n, 'time', 'times'),
  shown_in: 'Times are shown in',
  times_in: (zone: string) => `Times are in ${zone}.`,
  all_zones: 'All zones',
  change: 'Change',
  choose_time: 'Choose a time',
  no_longer_free: 'This time is no longer free. Choose another one.',

  your_details: 'Your details',
  optional: '(optional)',
  labels: {
    first_name: 'First name',
    last_name: 'Last name',
    email: 'E-mail',
    phone: 'Phone',
    message: 'Message',
    slot: 'Time',
    reason: 'Reason',
  } as Record<string, string>,
  leave_empty: 'Leave this empty',
  confirmed_by: (hours: number) =>
    `Somebody confirms each booking here. Your request keeps the time for up to ${hours} hours, and the next page shows the answer.`,
  request_time: 'Request this time',
  book_time: 'Book this time',

  not_booked_yet: (title: string) => `Not booked yet: ${title}`,
  problems: (n: number) => (n === 1 ? 'One thing needs a change' : `${n} things need a change`),
  choose_a_time: 'Choose a time.',
  leave_last_empty: 'Leave the last field empty: it is there for programs that fill in everything.',
  required: (label: string) => `Enter your ${label === 'E-mail' ? 'e-mail address' : label.toLowerCase()}.`,
  email_format: 'Enter an e-mail address such as ana.ruiz@example.com.',
  too_long: (label: string, most: string) => `${label} must have at most ${most} characters.`,
  bad_character: (label: string) => `${label} has a character that cannot be stored.`,
  other_problem: 'This form has a value that is not valid. Load the page again.',
  hitches: {
    taken: (others: string, _length: string) => [
      'This time is no longer free',
      `Somebody else has just taken it. ${others}`,
    ],
    gone: (others: string, _length: string) => ['This time is no longer offered', others],
    changed: (_others: string, length: string) => [
      'The length has changed',
      `It takes ${length} now. If that suits you, confirm it.`,
    ],
  },
  next_times: (typed: boolean) =>
    `Choose one of the next free times${typed ? ': what you typed is still here' : ''}.`,
  look_for_another: 'Look among all free times for another one.',
  these_are_next: 'These are the next free ones.',
  look_for_one: 'Look among all free times for one.',
  not_booked: (title: string) => `Not booked: ${title}`,
  too_many: 'Not booked: too many bookings',
  too_many_text: (wait: string) =>
    `There are too many bookings here at the moment, with this e-mail address, or from your network.\n\nTry again in ${wait}. If you have booked here before, you can also cancel an appointment by its private link.`,

  booked: 'You are booked',
  requested: 'Your request is sent',
  endings: {
    cancelled: 'This appointment is cancelled',
    declined: 'This request was not accepted',
    past: 'This appointment is over',
    begun: 'This appointment has begun',
    closed: 'No bookings are taken here',
  },
  refusals: {
    begun: 'This appointment has begun: it can no longer be moved or cancelled here.',
    past: 'This appointment is over: it can no longer be moved or cancelled here.',
    cancelled: 'It was cancelled before, so it can no longer be moved or cancelled.',
    declined: 'It was not accepted, so it can no longer be moved or cancelled.',
    closed: 'No bookings are taken at the moment, so this appointment cannot be moved. It can be cancelled.',
  },
  request_note: (end: Html) =>
    html`It is not booked yet: somebody confirms it first. The time is kept for you until ${end}. Without an answer by then the request ends, and nothing is booked. Load this page again to see the answer.`,
  not_confirmed: 'Nobody confirmed it, so nothing is booked.',
  what: 'What',
  when: 'When',
  where: 'Where',
  to_calendar: 'Add to calendar',
  unchangeable: 'It can no longer be changed here.',
  book_another: 'Book another time',
  move: 'Move',
  cancel: 'Cancel appointment',
  keep_address:
    'Keep the address of this page to yourself: whoever has it can move or cancel the appointment.',
  back_to_appointment: 'Back to the appointment',
  cancel_title: (title: string) => `Cancel: ${title}`,
  cancel_question: 'Cancel this appointment?',
  move_title: (title: string) => `Move: ${title}`,
  choose_new: 'Choose a new time',
  now_on: (title: Html) => html`${title} is now on:`,
  not_moved_yet: (title: string) => `Not moved yet: ${title}`,
  move_question: 'Move this appointment?',
  from: 'From',
  to: 'To',
  move_here: 'Move to this time',
  in_calendar: (requested: boolean, link: string) =>
    `${requested ? 'Not confirmed yet. ' : ''}Cancel or move: ${link}`,

  /** The pages of errors, by status. */
  errors: {
    404: [
      'There is nothing here',
      'This address takes no bookings at the moment, or a link is not complete.\n\nCheck the address, or ask the person who gave it to you.',
    ],
    405: ['This is not possible here', 'Go back and try it again from there.'],
    413: ['This is too much text', 'Go back and send a shorter message.'],
    429: [
      'One moment, please',
      'There were many requests from your network. Wait a few seconds, then load the page again.',
    ],
    500: ['Something went wrong here', 'It is not your fault. Try it again in a moment.'],
    503: ['This does not work at the moment', 'Nothing was changed. Try it again in a moment.'],
  } as Record<number, string[]>,
  invalid: ['This request is not valid', 'Go back and try it again from there.'],
}

/** Every text of the public pages. */
export type Texts = typeof en

const de: Texts = {
  length: lengthIn('Stunde', 'Stunden', 'Minuten'),
  weekdays: ['Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag', 'Sonntag'],
  all_times: 'Alle freien Zeiten',
  none_free: 'Zurzeit ist nichts frei. Bitte schauen Sie an einem anderen Tag wieder vorbei.',
  none_on_day: 'An diesem Tag ist nichts frei.',
  none_in: (month) => `Keine freien Zeiten im ${month}`,
  show_next: 'Die nächsten freien Zeiten zeigen',
  look_further: 'Weiter in der Zukunft suchen',
  previous_month: 'Voriger Monat',
  next_month: 'Nächster Monat',
  times: (n) => count(n, 'freie Zeit', 'freie Zeiten'),
  shown_in: 'Zeiten gelten für',
  times_in: (zone) => `Die Zeiten gelten für ${zone}.`,
  all_zones: 'Alle Zeitzonen',
  change: 'Ändern',
  choose_time: 'Zeit wählen',
  no_longer_free: 'Diese Zeit ist nicht mehr frei. Wählen Sie eine andere.',

  your_details: 'Ihre Angaben',
  optional: '(freiwillig)',
  labels: {
    first_name: 'Vorname',
    last_name: 'Nachname',
    email: 'E-Mail',
    phone: 'Telefon',
    message: 'Nachricht',
    slot: 'Zeit',
    reason: 'Grund',
  },
  leave_empty: 'Dieses Feld leer lassen',
  confirmed_by: (hours) =>
    `Hier wird jede Buchung bestätigt. Ihre Anfrage hält die Zeit bis zu ${hours} Stunden frei, und die nächste Seite zeigt die Antwort.`,
  request_time: 'Diese Zeit anfragen',
  book_time: 'Diese Zeit buchen',

  not_booked_yet: (title) => `Noch nicht gebucht: ${title}`,
  problems: (n) => (n === 1 ? 'Eine Angabe fehlt oder passt nicht' : `${n} Angaben fehlen oder passen nicht`),
  choose_a_time: 'Wählen Sie eine Zeit.',
  leave_last_empty: 'Lassen Sie das letzte Feld leer: Es ist für Programme da, die alles ausfüllen.',
  required: (label) => `Füllen Sie das Feld „${label}“ aus.`,
  email_format: 'Geben Sie eine E-Mail-Adresse wie ana.ruiz@example.com an.',
  too_long: (label, most) => `Das Feld „${label}“ fasst höchstens ${most} Zeichen.`,
  bad_character: (label) => `Das Feld „${label}“ enthält ein Zeichen, das nicht gespeichert werden kann.`,
  other_problem: 'Eine Angabe in diesem Formular ist ungültig. Laden Sie die Seite neu.',
  hitches: {
    taken: (others) => ['Diese Zeit ist nicht mehr frei', `Jemand anders war gerade schneller. ${others}`],
    gone: (others) => ['Diese Zeit wird nicht mehr angeboten', others],
    changed: (_, length) => [
      'Die Dauer hat sich geändert',
      `Der Termin dauert jetzt ${length}. Wenn Ihnen das passt, bestätigen Sie es.`,
    ],
  },
  next_times: (typed) =>
    `Wählen Sie eine der nächsten freien Zeiten${typed ? '; Ihre Angaben stehen noch da' : ''}.`,
  look_for_another: 'Suchen Sie unter allen freien Zeiten eine andere.',
  these_are_next: 'Dies sind die nächsten freien Zeiten.',
  look_for_one: 'Suchen Sie unter allen freien Zeiten eine aus.',
  not_booked: (title) => `Nicht gebucht: ${title}`,
  too_many: 'Nicht gebucht: zu viele Buchungen',
  too_many_text: (wait) =>
    `Zurzeit gibt es hier zu viele Buchungen, mit dieser E-Mail-Adresse oder aus Ihrem Netz.\n\nVersuchen Sie es in ${wait} wieder. Wenn Sie hier schon gebucht haben, können Sie auch einen Termin über seinen privaten Link absagen.`,

  booked: 'Ihr Termin ist gebucht',
  requested: 'Ihre Anfrage ist gesendet',
  endings: {
    cancelled: 'Dieser Termin ist abgesagt',
    declined: 'Diese Anfrage wurde nicht angenommen',
    past: 'Dieser Termin ist vorbei',
    begun: 'Dieser Termin hat begonnen',
    closed: 'Hier werden keine Buchungen angenommen',
  },
  refusals: {
    begun: 'Dieser Termin hat begonnen: Er kann hier nicht mehr verschoben oder abgesagt werden.',
    past: 'Dieser Termin ist vorbei: Er kann hier nicht mehr verschoben oder abgesagt werden.',
    cancelled: 'Er wurde schon abgesagt und kann nicht mehr verschoben oder abgesagt werden.',
    declined: 'Er wurde nicht angenommen und kann nicht mehr verschoben oder abgesagt werden.',
    closed:
      'Zurzeit werden keine Buchungen angenommen. Dieser Termin kann nicht verschoben, aber abgesagt werden.',
  },
  request_note: (end) =>
    html`Der Termin ist noch nicht gebucht: Er wird erst bestätigt. Die Zeit ist für Sie frei gehalten bis ${end}. Ohne Antwort endet die Anfrage dann, und nichts ist gebucht. Laden Sie diese Seite neu, um die Antwort zu sehen.`,
  not_confirmed: 'Niemand hat ihn bestätigt, daher ist nichts gebucht.',
  what: 'Was',
  when: 'Wann',
  where: 'Wo',
  to_calendar: 'Zum Kalender hinzufügen',
  unchangeable: 'Er kann hier nicht mehr geändert werden.',
  book_another: 'Eine andere Zeit buchen',
  move: 'Verschieben',
  cancel: 'Termin absagen',
  keep_address:
    'Behalten Sie die Adresse dieser Seite für sich: Wer sie hat, kann den Termin verschieben oder absagen.',
  back_to_appointment: 'Zurück zum Termin',
  cancel_title: (title) => `Absagen: ${title}`,
  cancel_question: 'Diesen Termin absagen?',
  move_title: (title) => `Verschieben: ${title}`,
  choose_new: 'Neue Zeit wählen',
  now_on: (title) => html`${title} ist jetzt am:`,
  not_moved_yet: (title) => `Noch nicht verschoben: ${title}`,
  move_question: 'Diesen Termin verschieben?',
  from: 'Von',
  to: 'Auf',
  move_here: 'Auf diese Zeit verschieben',
  in_calendar: (requested, link) =>
    `${requested ? 'Noch nicht bestätigt. ' : ''}Absagen oder verschieben: ${link}`,

  errors: {
    404: [
      'Hier ist nichts',
      'Unter dieser Adresse werden zurzeit keine Buchungen angenommen, oder ein Link ist unvollständig.\n\nPrüfen Sie die Adresse, oder fragen Sie die Person, von der Sie sie haben.',
    ],
    405: ['Das ist hier nicht möglich', 'Gehen Sie zurück und versuchen Sie es von dort noch einmal.'],
    413: ['Das ist zu viel Text', 'Gehen Sie zurück und senden Sie eine kürzere Nachricht.'],
    429: [
      'Einen Moment, bitte',
      'Aus Ihrem Netz kamen viele Anfragen. Warten Sie einige Sekunden und laden Sie die Seite neu.',
    ],
    500: ['Hier ist etwas schiefgegangen', 'Es liegt nicht an Ihnen. Versuchen Sie es gleich noch einmal.'],
    503: ['Das geht im Moment nicht', 'Es wurde nichts geändert. Versuchen Sie es gleich noch einmal.'],
  },
  invalid: ['Diese Anfrage ist ungültig', 'Gehen Sie zurück und versuchen Sie es von dort noch einmal.'],
}

const texts = { en, de }
export type Language = keyof typeof texts

/** The language of a locale. */
export const languageOf = (locale: string): Language => (/^de\b/i.test(locale) ? 'de' : 'en')

/** The texts in a visitor's language. */
export const textsOf = ({ locale }: { locale: string }): Texts => texts[languageOf(locale)]
