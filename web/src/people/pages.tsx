export { InvitationPage } from './invitation-page.tsx'
export { ResetPage } from './reset-page.tsx'
export { SetupPage } from './setup-page.tsx'
export { SignInPage } from './sign-in-page.tsx'
