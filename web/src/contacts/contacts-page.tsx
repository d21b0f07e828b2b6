import { Page } from '../ui/page.tsx'

export const ContactsPage = () => <Page title="ContactsPage">{null}</Page>
