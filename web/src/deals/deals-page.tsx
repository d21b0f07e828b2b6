import { Page } from '../ui/page.tsx'

export const DealsPage = () => <Page title="DealsPage">{null}</Page>
