import { Page } from '../ui/page.tsx'

export const ContactPage = () => <Page title="ContactPage">{null}</Page>
