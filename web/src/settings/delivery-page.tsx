import { Page } from '../ui/page.tsx'

export const DeliveryPage = () => <Page title="DeliveryPage">{null}</Page>
