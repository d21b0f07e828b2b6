// Generated from src/texts/de/mails.json by npm run types: do not edit.
import { forms } from '../../forms.ts'

const { number, plural } = forms("de")

export const mails = {
"cut": "Der Rest fehlt hier: Er ist zu lang für eine E-Mail.",
"sent_by_service": "Gesendet von Rapport.",
"unsubscribe": "Diese E-Mails abbestellen",
"test": {
"subject": "Test-E-Mail von Rapport",
"text": "Dies ist ein Test der E-Mail-Einstellungen. Wenn Sie ihn lesen, kommen E-Mails dieser Installation an.",
"sent_at": "Gesendet",
},
"invitation": {
"subject": (values: { person: string; workspace: string }): string => `${values.person} lädt Sie zu ${values.workspace} ein`,
"subject_by_key": (values: { workspace: string }): string => `Sie sind zu ${values.workspace} eingeladen`,
"text": (values: { person: string; workspace: string; role: "owner" | "admin" | "read_only" | "other" }): string => `${values.person} lädt Sie ein, in ${values.workspace} mit Rapport zu arbeiten, mit der Rolle ${(values.role === "owner" ? `Inhaber` : values.role === "admin" ? `Administrator` : values.role === "read_only" ? `Nur lesen` : `Mitglied`)}.`,
"text_by_key": (values: { workspace: string; role: "owner" | "admin" | "read_only" | "other" }): string => `Sie sind eingeladen, in ${values.workspace} mit Rapport zu arbeiten, mit der Rolle ${(values.role === "owner" ? `Inhaber` : values.role === "admin" ? `Administrator` : values.role === "read_only" ? `Nur lesen` : `Mitglied`)}.`,
"accept": "Einladung annehmen",
"until": (values: { time: string }): string => `Der Link gilt einmal, bis ${values.time}. Wenn Sie nicht wissen, warum Sie diese E-Mail bekommen, ignorieren Sie sie.`,
},
"password_reset": {
"subject": "Neues Passwort setzen",
"text": "Jemand hat für diese E-Mail-Adresse ein neues Passwort angefordert. Wenn Sie das waren, öffnen Sie den Link und wählen Sie eines.",
"several": (values: { n: number }): string => `Diese Adresse hat ${(plural(values.n) === "one" ? `${number(values.n)} Konto` : `${number(values.n)} Konten`)}. Jeder Link gilt für eines davon.`,
"set": "Neues Passwort setzen",
"set_for": (values: { account: string }): string => `Neues Passwort setzen für ${values.account}`,
"until": "Ein Link gilt einmal, eine Stunde lang. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail: Nichts hat sich geändert.",
},
"new_sign_in": {
"subject": "Neue Anmeldung bei Ihrem Konto",
"text": "Jemand hat sich bei Ihrem Konto mit einem Browser angemeldet, den es noch nicht kannte.",
"when": "Wann",
"browser": "Browser",
"address": "Adresse",
"advice": "Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, setzen Sie jetzt ein neues Passwort: Das beendet alle Sitzungen.",
"open": "Mein Profil öffnen",
},
"assigned": {
"subject": (values: { n: number; title: string }): string => (values.n === 1 ? `Ihnen zugewiesen: ${values.title}` : plural(values.n) === "one" ? `${number(values.n)} Datensatz ist Ihnen zugewiesen` : `${number(values.n)} Datensätze sind Ihnen zugewiesen`),
"text": (values: { n: number; actor: string }): string => (plural(values.n) === "one" ? `${values.actor} hat Ihnen einen Datensatz zugewiesen.` : `${values.actor} hat Ihnen ${number(values.n)} Datensätze zugewiesen.`),
},
"mentioned": {
"subject": (values: { actor: string; title: string }): string => `${values.actor} hat Sie erwähnt: ${values.title}`,
"text": (values: { actor: string }): string => `${values.actor} hat Sie in einer Notiz erwähnt.`,
},
"webhook_failed": {
"subject": "Ein Webhook ist fehlgeschlagen",
"text": "Eine Zustellung eines Webhooks ist endgültig fehlgeschlagen. Auch spätere können fehlschlagen.",
},
"import_ended": {
"subject": (values: { outcome: "succeeded" | "cancelled" | "other" }): string => (values.outcome === "succeeded" ? `Ihr Import ist beendet` : values.outcome === "cancelled" ? `Ihr Import wurde abgebrochen` : `Ihr Import ist fehlgeschlagen`),
"text": (values: { outcome: "succeeded" | "cancelled" | "other" }): string => (values.outcome === "succeeded" ? `Alle Zeilen Ihres Imports wurden gelesen. Seine Seite zeigt, was geschrieben wurde und welche Zeilen ausgelassen wurden.` : values.outcome === "cancelled" ? `Ihr Import wurde abgebrochen. Seine Seite zeigt, was vorher geschrieben wurde.` : `Ihr Import ist fehlgeschlagen. Seine Seite sagt, warum, und was vorher geschrieben wurde.`),
},
"actor": {
"service": "Rapport",
"visitor": "Ein Besucher",
"somebody": "Jemand",
},
"untitled": "ein Datensatz",
"open": "Öffnen",
"booking": {
"to_visitor": {
"requested": (values: { title: string }): string => `Angefragt: ${values.title}`,
"confirmed": (values: { title: string }): string => `Bestätigt: ${values.title}`,
"declined": (values: { title: string }): string => `Nicht angenommen: ${values.title}`,
"moved": (values: { title: string }): string => `Neue Zeit: ${values.title}`,
"cancelled": (values: { title: string }): string => `Abgesagt: ${values.title}`,
},
"to_host": {
"requested": (values: { title: string; name: string }): string => `Anfrage: ${values.title}, ${values.name}`,
"confirmed": (values: { title: string; name: string }): string => `Gebucht: ${values.title}, ${values.name}`,
"declined": (values: { title: string; name: string }): string => `Abgelehnt: ${values.title}, ${values.name}`,
"moved": (values: { title: string; name: string }): string => `Verschoben: ${values.title}, ${values.name}`,
"cancelled": (values: { title: string; name: string }): string => `Abgesagt: ${values.title}, ${values.name}`,
},
"visitor": {
"requested": "Ihre Anfrage ist angekommen. Der Termin ist noch nicht gebucht: Er wird erst bestätigt, und eine weitere E-Mail sagt es Ihnen.",
"confirmed": "Ihr Termin ist gebucht.",
"declined": "Ihre Anfrage wurde nicht angenommen, daher ist nichts gebucht.",
"moved": "Ihr Termin hat sich geändert.",
"cancelled": "Ihr Termin ist abgesagt.",
},
"host": {
"requested": "Ein Besucher fragt diese Zeit an. Nehmen Sie sie an, oder lehnen Sie sie ab.",
"confirmed": "Dieser Termin ist gebucht.",
"declined": "Diese Anfrage ist abgelehnt.",
"moved": "Dieser Termin hat sich geändert.",
"cancelled": "Dieser Termin ist abgesagt.",
},
"what": "Was",
"when": "Wann",
"before": "Vorher",
"where": "Wo",
"who": "Wer",
"change": "Verschieben oder absagen",
"see": "Termin ansehen",
"keep": "Behalten Sie diesen Link für sich: Wer ihn hat, kann den Termin verschieben oder absagen.",
},
"unsubscribing": {
"title": "Diese E-Mails abbestellen",
"question": "Möchten Sie keine E-Mails dieser Art mehr?",
"button": "Abbestellen",
"done_title": "Keine solchen E-Mails mehr",
"done": "Sie bekommen keine E-Mails dieser Art mehr. Alle anderen werden wie bisher gesendet.",
},
}
