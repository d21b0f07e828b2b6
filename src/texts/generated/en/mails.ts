// Generated from src/texts/en/mails.json by npm run types: do not edit.
import { forms } from '../../forms.ts'

const { number, plural } = forms("en")

export const mails = {
"cut": "The rest is left out here: it is too long for a mail.",
"sent_by_service": "Sent by Rapport.",
"unsubscribe": "Stop these mails",
"test": {
"subject": "Test mail from Rapport",
"text": "This is a test of the mail settings. If you read it, mails of this installation arrive.",
"sent_at": "Sent",
},
"invitation": {
"subject": (values: { person: string; workspace: string }): string => `${values.person} invites you to ${values.workspace}`,
"subject_by_key": (values: { workspace: string }): string => `You are invited to ${values.workspace}`,
"text": (values: { person: string; workspace: string; role: "owner" | "admin" | "read_only" | "other" }): string => `${values.person} invites you to work in ${values.workspace} with Rapport, as ${(values.role === "owner" ? `an owner` : values.role === "admin" ? `an administrator` : values.role === "read_only" ? `a member who reads` : `a member`)}.`,
"text_by_key": (values: { workspace: string; role: "owner" | "admin" | "read_only" | "other" }): string => `You are invited to work in ${values.workspace} with Rapport, as ${(values.role === "owner" ? `an owner` : values.role === "admin" ? `an administrator` : values.role === "read_only" ? `a member who reads` : `a member`)}.`,
"accept": "Accept the invitation",
"until": (values: { time: string }): string => `The link works once, until ${values.time}. If you do not know why you got this mail, ignore it.`,
},
"password_reset": {
"subject": "Set a new password",
"text": "Somebody asked for a new password for this e-mail address. If it was you, open the link and choose one.",
"several": (values: { n: number }): string => `This address has ${(plural(values.n) === "one" ? `${number(values.n)} account` : `${number(values.n)} accounts`)}. Each link is for one of them.`,
"set": "Set a new password",
"set_for": (values: { account: string }): string => `Set a new password for ${values.account}`,
"until": "A link works once, for an hour. If you did not ask for it, ignore this mail: nothing has changed.",
},
"new_sign_in": {
"subject": "New sign-in to your account",
"text": "Somebody signed in to your account from a browser that it did not know before.",
"when": "When",
"browser": "Browser",
"address": "Address",
"advice": "If it was you, you need not do anything. If not, set a new password now: that ends all sessions.",
"open": "Open my profile",
},
"assigned": {
"subject": (values: { n: number; title: string }): string => (values.n === 1 ? `Assigned to you: ${values.title}` : plural(values.n) === "one" ? `${number(values.n)} record is assigned to you` : `${number(values.n)} records are assigned to you`),
"text": (values: { n: number; actor: string }): string => (plural(values.n) === "one" ? `${values.actor} assigned you a record.` : `${values.actor} assigned you ${number(values.n)} records.`),
},
"mentioned": {
"subject": (values: { actor: string; title: string }): string => `${values.actor} mentioned you: ${values.title}`,
"text": (values: { actor: string }): string => `${values.actor} mentioned you in a note.`,
},
"webhook_failed": {
"subject": "A webhook has failed",
"text": "A delivery of a webhook failed for good. Later deliveries may fail, too.",
},
"import_ended": {
"subject": (values: { outcome: "succeeded" | "cancelled" | "other" }): string => (values.outcome === "succeeded" ? `Your import has ended` : values.outcome === "cancelled" ? `Your import was cancelled` : `Your import has failed`),
"text": (values: { outcome: "succeeded" | "cancelled" | "other" }): string => (values.outcome === "succeeded" ? `All rows of your import were read. Its page shows what was written, and which rows were left out.` : values.outcome === "cancelled" ? `Your import was cancelled. Its page shows what was written before.` : `Your import has failed. Its page says why, and what was written before.`),
},
"actor": {
"service": "Rapport",
"visitor": "A visitor",
"somebody": "Somebody",
},
"untitled": "a record",
"open": "Open it",
"booking": {
"to_visitor": {
"requested": (values: { title: string }): string => `Requested: ${values.title}`,
"confirmed": (values: { title: string }): string => `Confirmed: ${values.title}`,
"declined": (values: { title: string }): string => `Not accepted: ${values.title}`,
"moved": (values: { title: string }): string => `New time: ${values.title}`,
"cancelled": (values: { title: string }): string => `Cancelled: ${values.title}`,
},
"to_host": {
"requested": (values: { title: string; name: string }): string => `Request: ${values.title}, ${values.name}`,
"confirmed": (values: { title: string; name: string }): string => `Booked: ${values.title}, ${values.name}`,
"declined": (values: { title: string; name: string }): string => `Declined: ${values.title}, ${values.name}`,
"moved": (values: { title: string; name: string }): string => `Moved: ${values.title}, ${values.name}`,
"cancelled": (values: { title: string; name: string }): string => `Cancelled: ${values.title}, ${values.name}`,
},
"visitor": {
"requested": "Your request has arrived. It is not booked yet: somebody confirms it first, and another mail tells you.",
"confirmed": "Your appointment is booked.",
"declined": "Your request was not accepted, so nothing is booked.",
"moved": "Your appointment has changed.",
"cancelled": "Your appointment is cancelled.",
},
"host": {
"requested": "A visitor requests this time. Accept or decline it.",
"confirmed": "This appointment is booked.",
"declined": "This request is declined.",
"moved": "This appointment has changed.",
"cancelled": "This appointment is cancelled.",
},
"what": "What",
"when": "When",
"before": "Before",
"where": "Where",
"who": "Who",
"change": "Move or cancel it",
"see": "See the appointment",
"keep": "Keep this link to yourself: whoever has it can move or cancel the appointment.",
},
"unsubscribing": {
"title": "Stop these mails",
"question": "Do you want no more mails of this kind?",
"button": "Stop them",
"done_title": "No more of these mails",
"done": "You get no more mails of this kind. All others are sent as before.",
},
}
