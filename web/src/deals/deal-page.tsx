import { Page } from '../ui/page.tsx'

export const DealPage = () => <Page title="DealPage">{null}</Page>
