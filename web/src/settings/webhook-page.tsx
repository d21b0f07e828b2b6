import { Page } from '../ui/page.tsx'

export const WebhookPage = () => <Page title="WebhookPage">{null}</Page>
