import { Page } from '../ui/page.tsx'

export const MembersPage = () => <Page title="MembersPage">{null}</Page>
