import { Page } from '../ui/page.tsx'

export const WebhooksPage = () => <Page title="WebhooksPage">{null}</Page>
