import { Page } from '../ui/page.tsx'

export const ProfilePage = () => <Page title="ProfilePage">{null}</Page>
