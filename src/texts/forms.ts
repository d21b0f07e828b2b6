export { forms } from '../booking-site/texts/forms.ts'
