import { Page } from '../ui/page.tsx'

export const HomePage = () => <Page title="HomePage">{null}</Page>
