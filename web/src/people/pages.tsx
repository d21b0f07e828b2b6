import { Page } from '../ui/page.tsx'

export const SignInPage = () => <Page title="Sign in">{null}</Page>
export const SetupPage = () => <Page title="Set up">{null}</Page>
export const InvitationPage = () => <Page title="Invitation">{null}</Page>
export const ResetPage = () => <Page title="Reset">{null}</Page>
