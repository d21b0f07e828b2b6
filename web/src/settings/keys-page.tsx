import { Page } from '../ui/page.tsx'

export const KeysPage = () => <Page title="KeysPage">{null}</Page>
