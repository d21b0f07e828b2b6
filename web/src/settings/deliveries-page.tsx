import { Page } from '../ui/page.tsx'

export const DeliveriesPage = () => <Page title="DeliveriesPage">{null}</Page>
